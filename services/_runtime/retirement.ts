/** A route that is being retired: still served as ever, and said to go. */
export interface Retirement {
  /** Since when it is not for new clients: YYYY-MM-DD. */
  deprecated: string;
  /** When it may be gone, a year after that or later: YYYY-MM-DD. */
  sunset: string;
  /** The address that takes its place. */
  successor?: string;
}

/** What its replies say: `Deprecation` (RFC 9745), `Sunset` (RFC 8594), and where to go instead. */
export function retirementHeaders({ deprecated, sunset, successor }: Retirement): Record<string, string> {
  return {
    deprecation: `@${startOf(deprecated) / 1000}`,
    sunset: new Date(startOf(sunset)).toUTCString(),
    ...(successor && { link: `<${successor}>; rel="successor-version"` }),
  };
}

function startOf(day: string): number {
  return Date.parse(`${day}T00:00:00Z`);
}
