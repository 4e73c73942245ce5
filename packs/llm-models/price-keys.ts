// All prices of the dataset: attribute, meaning, and key in genai-prices.

interface PriceAttribute {
  /** Key in genai-prices; its last part is the unit: million tokens, thousand searches or pages, hours. */
  key: string;
  unit: string;
  description: string;
  /** Other names, for suggestions. */
  aliases?: string[];
  example: number | { min: number; max: number; currency: string };
}

const TOKENS = 'USD/1M tokens';
const SEARCHES = 'USD/1k searches';
const PAGES = 'USD/1k pages';
const HOUR = 'USD/hour';

/** By attribute name, in the order of the record. */
export const PRICES: Record<string, PriceAttribute> = {
  'price.input': {
    aliases: ['prompt_price', 'input_cost', 'input_token_price', 'cost'],
    key: 'input_mtok',
    unit: TOKENS,
    description: 'Text tokens sent to the model. A range where long prompts or some hours of the day cost more',
    example: 0.4,
  },
  'price.output': {
    aliases: ['completion_price', 'output_cost', 'output_token_price'],
    key: 'output_mtok',
    unit: TOKENS,
    description: 'Text tokens of the answer, with reasoning unless it has its own price',
    example: { min: 10, max: 15, currency: 'USD' },
  },
  'price.cache_read': {
    aliases: ['cached_input_price', 'cached_price', 'cache_hit_price'],
    key: 'cache_read_mtok',
    unit: TOKENS,
    description: 'Prompt tokens read from the provider’s cache, instead of price.input',
    example: 0.04,
  },
  'price.cache_write': {
    key: 'cache_write_mtok',
    unit: TOKENS,
    description: 'Prompt tokens written to the cache for the provider’s usual time, often five minutes',
    example: 3.75,
  },
  'price.cache_write_1h': {
    key: 'cache_write_1h_mtok',
    unit: TOKENS,
    description: 'Prompt tokens written to the cache for an hour',
    example: 6,
  },
  'price.input_audio': {
    key: 'input_audio_mtok',
    unit: TOKENS,
    description: 'Audio sent to the model, counted in tokens',
    example: 1,
  },
  'price.output_audio': {
    key: 'output_audio_mtok',
    unit: TOKENS,
    description: 'Audio in the answer, counted in tokens',
    example: 20,
  },
  'price.cache_audio_read': {
    key: 'cache_audio_read_mtok',
    unit: TOKENS,
    description: 'Audio tokens read from the cache',
    example: 0.3,
  },
  'price.input_image': {
    key: 'input_image_mtok',
    unit: TOKENS,
    description: 'Images sent to the model, counted in tokens, if their price differs from text',
    example: 10,
  },
  'price.output_image': {
    key: 'output_image_mtok',
    unit: TOKENS,
    description: 'Generated images, counted in tokens, if their price differs from text',
    example: 30,
  },
  'price.cache_image_read': {
    key: 'cache_image_read_mtok',
    unit: TOKENS,
    description: 'Image tokens read from the cache',
    example: 2.5,
  },
  'price.input_video': {
    key: 'input_video_mtok',
    unit: TOKENS,
    description: 'Video sent to the model, counted in tokens',
    example: 3,
  },
  'price.output_video': {
    key: 'output_video_mtok',
    unit: TOKENS,
    description: 'Generated video, counted in tokens',
    example: 40,
  },
  'price.output_reasoning': {
    key: 'output_reasoning_mtok',
    unit: TOKENS,
    description: 'Reasoning tokens, if they have their own price',
    example: 3,
  },
  'price.output_citation': {
    key: 'output_citation_mtok',
    unit: TOKENS,
    description: 'Tokens of cited sources, if they have their own price',
    example: 2,
  },
  'price.web_search': {
    key: 'web_searches_kcount',
    unit: SEARCHES,
    description: 'Web searches that the model makes as a tool',
    example: 10,
  },
  'price.storage_search': {
    key: 'storage_searches_kcount',
    unit: SEARCHES,
    description: 'Searches in files stored with the provider',
    example: 2.5,
  },
  'price.audio_hour': {
    key: 'audio_hours',
    unit: HOUR,
    description: 'Audio of a voice or transcription model, input or output',
    example: 0.36,
  },
  'price.input_audio_hour': {
    key: 'input_audio_hours',
    unit: HOUR,
    description: 'Audio sent to a transcription model',
    example: 0.111,
  },
  'price.document_page': {
    key: 'input_document_kpages',
    unit: PAGES,
    description: 'Pages read by a document model',
    example: 2,
  },
  'price.annotated_page': {
    key: 'input_annotated_document_kpages',
    unit: PAGES,
    description: 'Pages read by a document model with annotations',
    example: 3,
  },
  'price.request': {
    key: 'requests_kcount',
    unit: 'USD/1k requests',
    description: 'A fee for each request, in addition to its tokens',
    example: 5,
  },
  'price.text_message': {
    key: 'input_text_messages_kcount',
    unit: 'USD/1k messages',
    description: 'Text messages sent into a voice conversation',
    example: 4,
  },
};

/** Attribute by key of genai-prices. */
export const ATTRIBUTE_OF_KEY = new Map(Object.entries(PRICES).map(([name, { key }]) => [key, name]));
