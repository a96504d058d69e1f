import { isBefore } from "@pragma/contracts/date-time";
import type { ClerkShift } from "@pragma/contracts/till-v2";

/**
 * Finds the shift that an order or payment belongs to: the first of its clerk's shifts that contains the moment (from
 * clocking in, up to but not including clocking out; open where a date is null), else that clerk's first shift. What
 * has no clerk, or one without shifts, belongs to none.
 */
export function shiftFinder(shifts: ClerkShift[]): (clerkId: string | null, moment: string) => ClerkShift | undefined {
  const shiftsByClerk = new Map<string, ClerkShift[]>();
  for (const shift of shifts) {
    const known = shiftsByClerk.get(shift.id);
    if (known) known.push(shift);
    else shiftsByClerk.set(shift.id, [shift]);
  }
  return (clerkId, moment) => {
    const own = clerkId === null ? undefined : shiftsByClerk.get(clerkId);
    return own?.find((shift) => contains(shift, moment)) ?? own?.[0];
  };
}

function contains({ clockInDate, clockOutDate }: ClerkShift, moment: string): boolean {
  const started = clockInDate === null || !isBefore(moment, clockInDate);
  return started && (clockOutDate === null || isBefore(moment, clockOutDate));
}
