import type { ReportV2 } from "@pragma/contracts/report-v2";
import type { TillWarning } from "@pragma/contracts/till-dry-run";

const maxWarnings = 100;

/**
 * Returns the fields of a till that are probably wrong, although a push accepts them. The entries of a report are the
 * financial movements of its till, in the same sequence. Those of V1 tills are never wrong, because their types follow
 * from their amounts.
 */
export function findTillWarnings({ reportEntries }: Pick<ReportV2, "reportEntries">): TillWarning[] {
  return reportEntries
    .flatMap(({ entryType, entryAmount }, index) => {
      const message = describeWrongSign(entryType, entryAmount);
      return message === null
        ? []
        : [{ path: `financialMovementList[${index}].amount`, code: "movement_sign" as const, message }];
    })
    .slice(0, maxWarnings);
}

function describeWrongSign(type: ReportV2["reportEntries"][number]["entryType"], amount: number): string | null {
  if (type === "cash-out" && amount > 0)
    return `A movement of the type cash-out has the amount ${amount}, so it counts as money that was added. If money was paid out, send ${-amount}; if it was added, send the type cash-in.`;
  if (type === "cash-in" && amount < 0)
    return `A movement of the type cash-in has the amount ${amount}, so it counts as money that was paid out. If money was added, send ${-amount}; if it was paid out, send the type cash-out.`;
  return null;
}
