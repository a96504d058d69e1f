import type { TryItResponse } from "./send-request.ts";

/** A till that a response says is stored, with the ID of its report; null if it gets none, as in training mode. */
export interface PushedTill {
  id: string;
  reportId: string | null;
}

/** Returns the till that a complete response to a push says is stored; undefined after a dry run or a failure. */
export function readPushedTill({ status, body, isComplete }: TryItResponse): PushedTill | undefined {
  if (!isComplete || (status !== 200 && status !== 201)) return undefined;
  try {
    const { tillId, reportId, isDryRun } = JSON.parse(body);
    return typeof tillId === "string" && !isDryRun ? { id: tillId, reportId } : undefined;
  } catch {
    return undefined;
  }
}
