import type { DisabledReason } from "@pragma/contracts/webhook";

interface Health {
  /** When the first attempt failed since the last that succeeded. */
  failingSince: Date;
  /** When the recipient was told. */
  warnedAt: Date | null;
  /** Whether the endpoint says that it is there no more. */
  isGone: boolean;
}

const hours = 3_600_000;
/** An endpoint that has nothing but failures for so long is sent nothing any more. */
const disabledAfter = 5 * 24 * hours;
/** After half of that its recipient is told. */
const warnedAfter = disabledAfter / 2;

/** What follows from an attempt that failed, for the endpoint. */
export function judgeHealth(
  { failingSince, warnedAt, isGone }: Health,
  now: Date,
): { disable: DisabledReason } | "warn" | "nothing" {
  if (isGone) return { disable: "gone" };
  const failingFor = now.getTime() - failingSince.getTime();
  if (failingFor >= disabledAfter) return { disable: "failing" };
  return failingFor >= warnedAfter && warnedAt === null ? "warn" : "nothing";
}
