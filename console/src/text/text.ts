import { en } from "./en/en.ts";

/** The texts of the console, in the shape that another language must have too. */
type Texts = typeof en;

/** The texts in the language of the reader. English is the only language so far. */
export const text: Texts = en;
