/** Where a report or order stands in the lists of its location: by day, then instant, then id. */
export interface Position {
  id: string;
  /** YYYY-MM-DD in the location's time zone. */
  day: string;
  /** The instant, in any notation of the same one. */
  at: string;
}

/** A position that came (1) or went (-1). */
export interface PositionChange extends Position {
  delta: 1 | -1;
}

/** What changed between two states of the same records; what stayed where it was is left out. */
export function changesBetween(before: Position[], after: Position[]): PositionChange[] {
  const key = ({ id, day, at }: Position) => `${id} ${day} ${instant(at)}`;
  const had = new Set(before.map(key));
  const has = new Set(after.map(key));
  return [
    ...before.filter((position) => !has.has(key(position))).map((position) => ({ ...position, delta: -1 as const })),
    ...after.filter((position) => !had.has(key(position))).map((position) => ({ ...position, delta: 1 as const })),
  ];
}

/** The same instant reads the same, with the digits that a date has lost. */
function instant(at: string): string {
  const finer = /\.\d{3}(\d+)/.exec(at)?.[1]?.replace(/0+$/, "") ?? "";
  return `${Date.parse(at)}${finer}`;
}
