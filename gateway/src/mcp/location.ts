import type { LocationDetails } from "@pragma/contracts/location";
import { z } from "zod";
import { ApiProblem, type ToolContext, ToolInputError } from "./define-tool.ts";
import {
  getCurrentDay,
  type NamedPeriod,
  needsCurrentDay,
  type Period,
  type PeriodArguments,
  resolvePeriod,
  toPeriodArguments,
} from "./period.ts";

/** The argument by which the key of an operator selects a location. */
export const locationArgument = {
  locationId: z.guid().optional().describe("Only for operator keys (scope locations:any)"),
};

/** The location whose data a tool reads. */
export interface ToolLocation {
  /** The query parameters that select the location; none for the location of the API key. */
  query: { locationId?: string };
  /** The arguments that select the location, for the next call of a tool. */
  args: { locationId?: string };
  /** Null if the API key must not read it. */
  timeZone: string | null;
}

/**
 * Returns the location in the arguments, or that of the API key. The time zone of another location than that of the key
 * is read from the API, for which the key needs the scope `locations:write`, and only if `isTimeZoneNeeded`.
 *
 * @throws `ToolInputError` if neither the arguments nor the key have a location.
 */
export async function findToolLocation(
  { principal, api }: ToolContext,
  { locationId }: { locationId?: string | undefined },
  { isTimeZoneNeeded = true } = {},
): Promise<ToolLocation> {
  const own = principal.location;
  const id = locationId?.toLowerCase();
  if (own && (id === undefined || id === own.id)) return { query: {}, args: {}, timeZone: own.timeZone };
  if (id === undefined) {
    throw new ToolInputError(
      'This API key belongs to no location, so the argument locationId is required, such as {"locationId":"7f6ec2b0-44f5-4df2-a1cb-3e8f2c0a9d11"}. Ask the user which location they mean.',
    );
  }
  const selection = { locationId: id };
  return {
    query: selection,
    args: selection,
    timeZone: isTimeZoneNeeded ? await readTimeZone(api, id) : null,
  };
}

async function readTimeZone(api: ToolContext["api"], id: string): Promise<string | null> {
  try {
    const { locationSettings } = await api.get<LocationDetails>(`/v1/locations/${id}`);
    return locationSettings.timezone;
  } catch (error) {
    if (error instanceof ApiProblem && error.problem.code === "scope_missing") return null;
    throw error;
  }
}

/** Returns the location and the period of a tool's arguments, and the arguments with which another tool answers for them. */
export async function findLocationAndPeriod(
  context: ToolContext,
  args: PeriodArguments & { locationId?: string | undefined },
  defaultPeriod: NamedPeriod = "last_7_days",
): Promise<{ location: ToolLocation; period: Period; nextArgs: object }> {
  const location = await findToolLocation(context, args, { isTimeZoneNeeded: needsCurrentDay(args) });
  const today = getCurrentDay(location.timeZone ?? "UTC", context.now);
  const period = resolvePeriod(args, { today, defaultPeriod });
  return { location, period, nextArgs: { ...toPeriodArguments(period), ...location.args } };
}
