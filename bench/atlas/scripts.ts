// Spelling of names in the atlas: a name is a list of syllable numbers, which each script spells differently.

const cut = (text: string) => text.split(' ');

/** Latin, in three manners; other scripts have one. A script with fewer syllables wraps around. */
const LATIN = [
  cut(
    'ba be bi bo bu da de di do du ka ke ki ko ku la le li lo lu ma me mi mo mu na ne ni no nu ra re ri ro ru sa se si so su ta te ti to tu va ve vi vo vu gar hol stad berg mund feld wick ford ham ley dor mar ten lin ros wen cal tor sel ban',
  ),
  cut(
    'bá bé bí bó bú da dé di dó du ça ke qui ko cu lá le li lô lu mã me mí mo mú ña ne ní nõ nu ra ré ri rô ru sá se sí so su tá te tí to tú va vê vi vo vu gar hól stad berg mund feld wiç ford ham léi dor már ten lín rós wen cál tor sél ban',
  ),
  cut(
    'ba bě bi bö bü ďa de dy do dů ka ke ki ko kų ła łe li lo lü mä me mi mö mu na ně ni nø nu řa re ri ro rů šå se ši so sü ťa te ti tö tų va ve vi vo vü går høl stad bærg mûnd fëld wiek ford hám lěj dør mär ťen lin røs wën çal tör šel bån',
  ),
];

const OTHERS = [
  cut(
    'ба бе би бо бу да де ди до ду ка ке ки ко ку ла ле ли ло лу ма ме ми мо му на не ни но ну ра ре ри ро ру са се си со су та те ти то ту ва ве ви во ву гар хол стад берг мунд фельд вик форд гам лей дор мар тен лин рос вен кал тор сел бан',
  ),
  cut(
    'βα βε βι βο βου δα δε δι δο δου κα κε κι κο κου λα λε λι λο λου μα με μι μο μου να νε νι νο νου ρα ρε ρι ρο ρου σα σε σι σο σου τα τε τι το του',
  ),
  cut(
    'با بي بو دا دي دو كا كي كو لا لي لو ما مي مو نا ني نو را ري رو سا سي سو تا تي تو فا في فو غار هول ستاد برغ موند',
  ),
  cut(
    '东 西 南 北 山 水 河 海 城 安 平 长 新 大 小 上 下 中 金 银 石 木 林 花 龙 凤 云 天 阳 阴 州 港 口 门 桥 村 田 谷 岭 湖',
  ),
  cut(
    'バ ベ ビ ボ ブ ダ デ ド カ ケ キ コ ク ラ レ リ ロ ル マ メ ミ モ ム ナ ネ ニ ノ ヌ サ セ シ ソ ス タ テ チ ト ツ ガル ホル',
  ),
  cut(
    '바 베 비 보 부 다 데 디 도 두 카 케 키 코 쿠 라 레 리 로 루 마 메 미 모 무 나 네 니 노 누 사 세 시 소 수 타 테 티 토 투',
  ),
  cut('บา เบ บี โบ บู ดา เด ดี โด ดู กา เก กี โก กู ลา เล ลี โล ลู มา เม มี โม มู นา เน นี โน นู รา เร รี โร รู'),
  cut('बा बे बी बो बू दा दे दी दो दू का के की को कू ला ले ली लो लू मा मे मी मो मू ना ने नी नो नू रा रे री रो रू'),
  cut('בא בי בו דא די דו קא קי קו לא לי לו מא מי מו נא ני נו רא רי רו סא סי סו תא תי תו'),
];

const CAPITAL = /^\p{Ll}/u;
const capital = (text: string) => text.replace(CAPITAL, (letter) => letter.toUpperCase());
const spell = (script: readonly string[], syllables: readonly number[]) =>
  capital(syllables.map((syllable) => script[syllable % script.length]).join(''));

/** Number of syllables in every script. */
export const SYLLABLES = LATIN[0]!.length;

/** A word in Latin letters; manner 0 is plain ASCII. */
export function latin(manner: number, syllables: readonly number[]): string {
  return spell(LATIN[manner % LATIN.length]!, syllables);
}

/** The same word in another script. */
export function foreign(script: number, syllables: readonly number[]): string {
  return spell(OTHERS[script % OTHERS.length]!, syllables);
}

export const SCRIPTS = OTHERS.length;
