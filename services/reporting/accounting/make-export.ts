import { type AccountingRules, ReplaceAccountingConfig } from "@pragma/contracts/accounting-config";
import { isTransient } from "@pragma/runtime/transient-error";
import {
  type Claim,
  claimExport,
  exportPlan,
  finishExport,
  type ItemResult,
  keepClaim,
  type PlannedFile,
  releaseClaim,
  reportOfTill,
} from "../queries/accounting-exports.ts";
import type { Reporting } from "../reporting.ts";
import { exportTill, failed, type TillOutcome } from "./export-till.ts";
import { type MadeFile, makeFile } from "./make-file.ts";

type Making = Pick<Reporting, "db" | "log" | "exportClaimSeconds">;

/** An export whose making was interrupted this often is given up: it may be what interrupts. */
const mostAttempts = 5;

/** Tills after which a claim is prolonged. */
const stride = 20;

/**
 * Makes an export, unless somebody else is at it: every file with the tills whose figures add up, and for each other
 * till the reason. All of it is written at once, and by the holder of the latest claim only: a process that was presumed
 * dead changes nothing.
 */
export async function makeExport(services: Making, exportId: string, signal: AbortSignal): Promise<void> {
  const { db, log, exportClaimSeconds: seconds } = services;
  const claim = await claimExport(db.sql, exportId, { seconds });
  if (!claim) return;
  try {
    const isGivenUp = claim.attempt > mostAttempts;
    const items: ItemResult[] = [];
    const files: (MadeFile & { number: number })[] = [];
    for (const planned of await exportPlan(db.sql, exportId)) {
      const outcomes = isGivenUp
        ? planned.tills.map(() => interrupted)
        : await outcomesOf(services, planned, claim, signal);
      if (!outcomes) return;
      const tills = outcomes.flatMap(({ till }) => (till ? [till] : []));
      const config = configOf(planned);
      if (tills.length > 0) files.push({ number: planned.number, ...makeFile(tills, planned.provider, config) });
      items.push(...planned.tills.map(({ position }, index) => itemResult(position, outcomes[index])));
    }
    const state = items.every((item) => item.state === "done") ? "done" : "failed";
    const isMine = await db.transaction((tx) => finishExport(tx, claim, { state, items, files }));
    if (isMine) log.info({ exportId, state, tills: items.length, attempt: claim.attempt }, "accounting export made");
  } catch (error) {
    await releaseClaim(db.sql, claim).catch(() => {});
    throw error;
  }
}

const interrupted = failed("interrupted", "What made the export died again and again. Nothing was exported.");

/** What comes of each till of a file; undefined when the claim was lost, or given back because the process stops. */
async function outcomesOf(
  services: Making,
  planned: PlannedFile,
  claim: Claim,
  signal: AbortSignal,
): Promise<TillOutcome[] | undefined> {
  const { db, exportClaimSeconds: seconds } = services;
  const outcomes: TillOutcome[] = [];
  for (const { tillId } of planned.tills) {
    if (signal.aborted) {
      await releaseClaim(db.sql, claim);
      return undefined;
    }
    if (outcomes.length % stride === 0 && !(await keepClaim(db.sql, claim, { seconds }))) return undefined;
    outcomes.push(await outcomeOf(services, planned, tillId));
  }
  return outcomes;
}

/** One till with a fault that nobody has foreseen does not keep the others from being exported. */
async function outcomeOf({ db, log }: Making, planned: PlannedFile, tillId: string): Promise<TillOutcome> {
  const { location_id: locationId } = planned;
  try {
    return exportTill(await reportOfTill(db.sql, { tillId, locationId }), configOf(planned));
  } catch (error) {
    if (isTransient(error)) throw error;
    log.error({ err: error, tillId }, "a till could not be exported");
    return failed("internal_error", "Something went wrong on our side. We have noted it.");
  }
}

/** The config as it was, and as the chart has it in what has come to configs since. */
function configOf({ config }: PlannedFile): AccountingRules {
  return ReplaceAccountingConfig.parse(JSON.parse(config));
}

function itemResult(position: number, outcome: TillOutcome | undefined): ItemResult {
  if (outcome?.till) return { position, state: "done", failure: null };
  return { position, state: "failed", failure: JSON.stringify(outcome?.failure) };
}
