import { createPlural } from "../plural.ts";

/** Puts a number into the English form of a text. */
export const plural = createPlural("en");

/** Returns the words of a name in camel case: `restaurantCheck` becomes `Restaurant check`. */
export function toWords(name: string): string {
  const words = name.replaceAll(/([a-z])([A-Z])/g, (_, end: string, start: string) => `${end} ${start.toLowerCase()}`);
  return words.charAt(0).toUpperCase() + words.slice(1);
}
