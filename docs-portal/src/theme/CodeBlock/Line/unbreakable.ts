/** Returns whether a token never wraps inside: an ID, a date, a name with hyphens, or a backslash after a space. */
export function isUnbreakable(content: string): boolean {
  return /^(?=\S*-)(?!.*:\/\/)\S{1,40}$|^\s\\$/.test(content);
}
