const units = { s: 1_000, m: 60_000, h: 3_600_000 };

/** `5s`, `30m` or `2h` in milliseconds; undefined when it is none of these. */
export function parseDuration(text: string): number | undefined {
  const [, number, unit] = /^(\d{1,6})([smh])$/.exec(text.trim()) ?? [];
  return number === undefined ? undefined : Number(number) * units[unit as keyof typeof units];
}
