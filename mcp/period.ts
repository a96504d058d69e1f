import { ApiProblem } from "@pragma/client";
import { countDays, createDayFormatter, dayMs } from "@pragma/contracts/date-time";
import { dayQueryParameter } from "@pragma/contracts/pagination";
import { z } from "zod";
import { type ToolContext, ToolInputError } from "./define-tool.ts";

const calendarPeriods = ["today", "yesterday", "this_week", "last_week", "this_month", "last_month"] as const;
const longPeriods = ["this_year", "last_year", "last_7_days", "last_30_days", "last_90_days", "last_365_days"] as const;
/** The periods that tools accept by name. Weeks begin on Monday. */
export const namedPeriods = [...calendarPeriods, ...longPeriods] as const;

export type NamedPeriod = (typeof namedPeriods)[number];

export const dayArgument = z
  .string()
  .refine((text) => dayQueryParameter.safeParse(text).success, {
    error: "Must be an existing date as YYYY-MM-DD, such as 2026-05-29",
  })
  .optional();

export const selectionArguments = {
  period: z.enum(namedPeriods).optional().describe("last_N_days end yesterday; weeks begin on Monday"),
  since: dayArgument.describe("First business day YYYY-MM-DD, instead of period"),
  until: dayArgument.describe("Last business day; default: today"),
  locationId: z.guid().optional().describe("Only for operator keys (scope locations:any)"),
};

type SelectionArguments = z.output<z.ZodObject<typeof selectionArguments>>;

export interface DayRange {
  since: string;
  until: string;
}

export const periodSchema = z.object({
  since: z.string(),
  until: z.string(),
  name: z.string().optional(),
  days: z.int(),
  timeZone: z.string().optional(),
});

type DescribedPeriod = z.infer<typeof periodSchema> & { name?: NamedPeriod };

export interface Selection {
  period: DescribedPeriod;
  /** The query parameter that selects the location; none for the location of the API key. */
  location: { locationId?: string };
  /** Null if the API key must not read it. */
  timeZone: string | null;
  notes: (string | undefined)[];
}

/** Returns what is wrong with the combination of arguments; undefined if nothing is. */
export function findPeriodIssue({ period, since, until }: SelectionArguments): string | undefined {
  if (period !== undefined && (since !== undefined || until !== undefined))
    return "period: use either period, or since and until";
  if (since === undefined && until !== undefined) return "since: is required with until";
  if (since !== undefined && until !== undefined && since > until)
    return `since: ${since} is after until, ${until}. Exchange the two values`;
  return undefined;
}

/** Returns the period and the location of the arguments. @throws `ToolInputError` if no location is known. */
export async function selectPeriod(
  context: ToolContext,
  args: SelectionArguments,
  defaultPeriod: NamedPeriod = "last_7_days",
): Promise<Selection> {
  const isDated = args.since !== undefined && args.until !== undefined;
  const { location, timeZone } = await selectLocation(context, args.locationId, { isTimeZoneNeeded: !isDated });
  const today = createDayFormatter(timeZone ?? "UTC")(context.now.toISOString());
  const period = resolvePeriod(args, { today, defaultPeriod });
  const { since, until, name, includesToday } = period;
  return {
    period: { since, until, ...(name && { name }), days: countDays(period), ...(timeZone && { timeZone }) },
    location,
    timeZone,
    notes: [
      timeZone === null && !isDated
        ? "The API key cannot read the time zone of the location, so the current day is that in UTC."
        : undefined,
      includesToday
        ? "Figures come from closed shifts. Sales of a shift that is still open today are not included."
        : undefined,
    ],
  };
}

/**
 * Returns the location of the arguments, or of the API key, and its time zone. That of another location needs the scope
 * `locations:write`. @throws `ToolInputError` if neither the arguments nor the API key have a location.
 */
export async function selectLocation(
  { ownLocation, api }: ToolContext,
  locationId: string | undefined,
  { isTimeZoneNeeded }: { isTimeZoneNeeded: boolean },
): Promise<Pick<Selection, "location" | "timeZone">> {
  const id = locationId?.toLowerCase();
  if (ownLocation && (id === undefined || id === ownLocation.id))
    return { location: {}, timeZone: ownLocation.timeZone };
  if (id === undefined) {
    throw new ToolInputError(
      'This API key belongs to no location, so the argument locationId is required, such as {"locationId":"7f6ec2b0-44f5-4df2-a1cb-3e8f2c0a9d11"}. Ask the user which location they mean.',
    );
  }
  const location = { locationId: id };
  if (!isTimeZoneNeeded) return { location, timeZone: null };
  try {
    const { data } = await api.GET("/v1/locations/{id}", { params: { path: { id } } });
    return { location, timeZone: data.locationSettings.timezone };
  } catch (error) {
    if (error instanceof ApiProblem && error.code === "scope_missing") return { location, timeZone: null };
    throw error;
  }
}

/**
 * Returns the business days of a period, with its name unless it was given by its dates, and whether it contains the current
 * day, whose figures are incomplete. `today` is the current day at the location.
 */
export function resolvePeriod(
  { period, since, until }: SelectionArguments,
  { today, defaultPeriod }: { today: string; defaultPeriod: NamedPeriod },
) {
  const name = since === undefined ? (period ?? defaultPeriod) : undefined;
  const range = name === undefined ? { since: since ?? today, until: until ?? today } : getNamedRange(name, today);
  return { ...range, ...(name && { name }), includesToday: range.since <= today && today <= range.until };
}

/** Returns the corresponding days of the week or month before one that is not over; undefined for other periods. */
export function findSameDaysBefore({ since, until, name }: DayRange & { name?: NamedPeriod }): DayRange | undefined {
  if (name === "this_week") return { since: addDays(since, -7), until: addDays(until, -7) };
  if (name !== "this_month") return undefined;
  const lastOfMonth = addDays(since, -1);
  const month = lastOfMonth.slice(0, "2026-05".length);
  const sameDate = `${month}${until.slice(month.length)}`;
  return { since: `${month}-01`, until: sameDate < lastOfMonth ? sameDate : lastOfMonth };
}

function getNamedRange(name: NamedPeriod, today: string): DayRange {
  const yesterday = addDays(today, -1);
  const monday = addDays(today, -((new Date(today).getUTCDay() + 6) % 7));
  const firstOfMonth = `${today.slice(0, 7)}-01`;
  const endOfLastMonth = addDays(firstOfMonth, -1);
  const firstOfYear = `${today.slice(0, 4)}-01-01`;
  const endOfLastYear = addDays(firstOfYear, -1);
  const calendar: Partial<Record<NamedPeriod, [since: string, until: string]>> = {
    today: [today, today],
    yesterday: [yesterday, yesterday],
    this_week: [monday, today],
    last_week: [addDays(monday, -7), addDays(monday, -1)],
    this_month: [firstOfMonth, today],
    last_month: [`${endOfLastMonth.slice(0, 7)}-01`, endOfLastMonth],
    this_year: [firstOfYear, today],
    last_year: [`${endOfLastYear.slice(0, 4)}-01-01`, endOfLastYear],
  };
  const [since, until] = calendar[name] ?? [addDays(today, -Number(name.split("_")[1])), yesterday];
  return { since, until };
}

/** Returns the date a number of days later, or earlier if it is negative. */
export function addDays(day: string, days: number): string {
  return new Date(Date.parse(day) + days * dayMs).toISOString().slice(0, 10);
}
