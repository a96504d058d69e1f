import { AmountOutOfRangeError } from "@pragma/contracts/money";
import type { DayFigures } from "./e-report.ts";
import type { EReportFigures } from "./e-report-figures.ts";
import { FigureSums } from "./figure-sums.ts";
import { createPause } from "./pause.ts";
import type { StoredTillEFigures, UnclosedDay } from "./queries/figures.ts";
import { subtractEReportFigures } from "./till-e-figures.ts";

/** A till whose figures are in a report. */
export type ReportedTill = Pick<StoredTillEFigures, "locationId" | "tillId" | "reportId" | "day" | "excludedOrderIds">;

export interface ReadDays {
  days: DayFigures[];
  tills: ReportedTill[];
  /** Days without figures, because a sum is too large, or there are too many sums or VAT rates. */
  tooLarge: UnclosedDay[];
}

/** The maximum number of sums of a day, by VAT rates and kinds of orders. A business with many locations has hundreds. */
const maxSums = 2_000;
/** The maximum number of VAT rates of a day. The administration knows about twenty. */
const maxRates = 100;

/** Adds up the figures of tills by day and currency. */
export async function readDays(
  batches: AsyncIterable<StoredTillEFigures[]>,
  getCurrency: (locationId: string) => string,
): Promise<ReadDays> {
  const sums = new Map<string, { day: string; currency: string; sums: FigureSums }>();
  const tills: ReportedTill[] = [];
  const tooLarge = new Map<string, UnclosedDay>();
  const pause = createPause();
  for await (const batch of batches) {
    for (const { figures, excludedFigures, ...till } of batch) {
      tills.push(till);
      const { day, locationId } = till;
      const currency = getCurrency(locationId);
      const key = `${day} ${currency}`;
      if (figures === null || tooLarge.has(key)) continue;
      await pause();
      const ofDay = sums.get(key) ?? { day, currency, sums: new FigureSums() };
      sums.set(key, ofDay);
      if (addWithinLimits(ofDay.sums, figures, excludedFigures)) continue;
      // The others of the day need not be added, because it cannot be reported.
      sums.delete(key);
      tooLarge.set(key, { locationId, day, state: "without_figures" });
    }
  }
  const days = [...sums.values()].map(({ day, currency, sums: ofDay }) => ({
    ...{ day, currency, figures: ofDay.toFigures() },
  }));
  return { days, tills, tooLarge: [...tooLarge.values()] };
}

/** Adds the figures of a till, without its excluded orders. Returns whether the sums are not too large or too many. */
function addWithinLimits(sums: FigureSums, figures: string, excludedFigures: string | null): boolean {
  const all: EReportFigures = JSON.parse(figures);
  try {
    sums.add(excludedFigures === null ? all : subtractEReportFigures(all, JSON.parse(excludedFigures)));
    return sums.size <= maxSums && sums.rateCount <= maxRates;
  } catch (error) {
    if (error instanceof AmountOutOfRangeError) return false;
    throw error;
  }
}
