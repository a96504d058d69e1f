import { createOnce } from "../format/create-once.ts";

/** The forms of a text for a number. English needs two; other languages have `zero`, `two`, `few` or `many` too. */
export type PluralForms = Partial<Record<Intl.LDMLPluralRule, string>> & { other: string };

/** Returns a function that puts a number into the form of the text that the language requires. `#` stands for the number. */
export function createPlural(language: string) {
  // Browsers take long to create them, and no view may wait for those that it does not need.
  const rules = createOnce(() => new Intl.PluralRules(language));
  const numbers = createOnce(() => new Intl.NumberFormat(language));
  return (count: number, forms: PluralForms): string =>
    (forms[rules().select(count)] ?? forms.other).replaceAll("#", numbers().format(count));
}
