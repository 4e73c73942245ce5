// The rules of HTML that pages must follow, for html-validate.
import { HtmlValidate } from 'html-validate';

/** Validates a page. */
export const htmlValidator = new HtmlValidate({
  extends: ['html-validate:standard', 'html-validate:a11y'],
  rules: {
    // Astro does not close void elements and shortens attributes; both are valid HTML.
    'void-style': 'off',
    'attribute-boolean-style': 'off',
    'doctype-style': 'off',
    'no-trailing-whitespace': 'off',
    'long-title': 'off',
    // Native elements with the role of a widget, and groups that scroll by keyboard.
    'prefer-native-element': 'off',
    'no-inline-style': 'error',
    'require-sri': 'off',
  },
});
