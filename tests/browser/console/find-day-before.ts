const parisDays = new Intl.DateTimeFormat("sv-SE", { dateStyle: "short", timeZone: "Europe/Paris" });

/** Returns the date some days ago at a location with the default time zone, as YYYY-MM-DD. */
export const findDayBefore = (dayCount: number): string =>
  new Date(Date.parse(`${parisDays.format(new Date())}T00:00:00Z`) - dayCount * 86_400_000).toISOString().slice(0, 10);
