import { setImmediate as nextEventLoopIteration } from "node:timers/promises";
import { AmountOutOfRangeError } from "@pragma/contracts/money";
import type { DayFigures } from "./e-report.ts";
import type { StoredTillEFigures, UnclosedDay } from "./queries/figures.ts";
import { addUpEReportFigures, type EReportFigures, subtractEReportFigures } from "./till-e-figures.ts";

/** A till whose figures are in a report. */
export type ReportedTill = Pick<StoredTillEFigures, "locationId" | "tillId" | "reportId" | "day" | "excludedOrderIds">;

export interface ReadDays {
  days: DayFigures[];
  tills: ReportedTill[];
  /** Days without the figures of a till, because a sum is too large or there are too many sums. */
  tooLarge: UnclosedDay[];
}

/** The maximum number of sums of a day, by VAT rates and kinds of orders. A business with many locations has hundreds. */
const maxSums = 2_000;
/** After this number of tills, other requests are handled. */
const tillsAtATime = 20;

/** Adds up the figures of tills by day and currency. */
export async function readDays(
  batches: AsyncIterable<StoredTillEFigures[]>,
  getCurrency: (locationId: string) => string,
): Promise<ReadDays> {
  const sums = new Map<string, DayFigures>();
  const tills: ReportedTill[] = [];
  const tooLarge: UnclosedDay[] = [];
  for await (const batch of batches) {
    for (const { figures, excludedFigures, ...till } of batch) {
      tills.push(till);
      if (tills.length % tillsAtATime === 0) await nextEventLoopIteration();
      if (figures === null) continue;
      const { day, locationId } = till;
      const currency = getCurrency(locationId);
      const all: EReportFigures = JSON.parse(figures);
      const previous = sums.get(`${day} ${currency}`)?.figures;
      try {
        const own = excludedFigures === null ? all : subtractEReportFigures(all, JSON.parse(excludedFigures));
        const added = addUpEReportFigures(previous ? [previous, own] : [own]);
        if (added.sales.length + added.orders.length > maxSums)
          tooLarge.push({ locationId, day, state: "without_figures" });
        else sums.set(`${day} ${currency}`, { day, currency, figures: added });
      } catch (error) {
        if (!(error instanceof AmountOutOfRangeError)) throw error;
        tooLarge.push({ locationId, day, state: "without_figures" });
      }
    }
  }
  return { days: [...sums.values()], tills, tooLarge };
}
