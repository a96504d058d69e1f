import { type AccountingRules, ReplaceAccountingConfig } from "@pragma/contracts/accounting-config";
import type { AccountingFailure } from "@pragma/contracts/accounting-export";
import type { ReportV2 } from "@pragma/contracts/report-v2";
import { withRequestContext } from "@pragma/runtime/request-context";
import { SpanKind } from "@pragma/runtime/tracing";
import { isTransient } from "@pragma/runtime/transient-error";
import {
  type Claim,
  exportPlan,
  type FinishedExport,
  finishExport,
  type ItemResult,
  keepClaim,
  type PlannedFile,
  releaseClaim,
  reportOfTill,
  type TillReport,
} from "../queries/accounting-exports.ts";
import type { Reporting } from "../reporting.ts";
import { journalOfTill } from "./journal-of-till.ts";
import { makeFile, type WellTill } from "./make-file.ts";
import type { TillFacts } from "./till-facts.ts";

/** What comes of a till: what it gives to its file, or why it gives nothing. */
type TillOutcome = { till: WellTill; failure: null } | { till: null; failure: AccountingFailure };

interface Making extends Pick<Reporting, "db" | "log"> {
  /** How long a maker of an export may go without a word before it is presumed dead. */
  exportClaimSeconds: number;
}

/** An export whose making was interrupted this often is given up: it may be what interrupts. */
const maxAttempts = 5;
/** Tills after which a claim is prolonged. */
const stride = 20;
/** The wait before an export is tried again, in seconds; twice as long after each further attempt. */
const firstRetrySeconds = 2;

/**
 * Makes an export that was claimed: every file with the tills whose figures add up, and for each other till the reason.
 * All of it is written at once, and by the holder of the latest claim only: a process that was presumed dead changes
 * nothing. What fails is tried again after a while.
 */
export async function makeExport(services: Making, claim: Claim, signal: AbortSignal): Promise<void> {
  const { db, log } = services;
  const { id: exportId, attempt, traceparent } = claim;
  const operation = { name: "accounting export", kind: SpanKind.CONSUMER };
  await withRequestContext({ traceparent, operation }, async ({ traceId }) => {
    const started = performance.now();
    const fields = () => ({ exportId, attempt, traceId, milliseconds: performance.now() - started });
    try {
      const finished = await computeExport(services, claim, signal);
      if (finished && (await db.transaction((tx) => finishExport(tx, claim, finished)))) {
        const { state, items } = finished;
        log.info({ ...fields(), state, tills: items.length }, "accounting export made");
      }
    } catch (error) {
      log.error({ ...fields(), err: error }, "an accounting export could not be made");
      await releaseClaim(db.sql, claim, { afterSeconds: firstRetrySeconds * 2 ** (attempt - 1) });
    }
  });
}

/** What an export comes to; undefined when the claim was lost, or given back because the process stops. */
async function computeExport(services: Making, claim: Claim, signal: AbortSignal): Promise<FinishedExport | undefined> {
  const isGivenUp = claim.attempt > maxAttempts;
  const items: ItemResult[] = [];
  const files: FinishedExport["files"] = [];
  for (const planned of await exportPlan(services.db.sql, claim.id)) {
    const outcomes = isGivenUp
      ? planned.tills.map(() => interrupted)
      : await outcomesOf(services, planned, claim, signal);
    if (!outcomes) return undefined;
    const tills = outcomes.flatMap(({ till }) => (till ? [till] : []));
    const { number, provider } = planned;
    if (tills.length > 0) files.push({ number, ...makeFile(tills, provider, configOf(planned)) });
    items.push(...planned.tills.map(({ position }, index) => itemResult(position, outcomes[index])));
  }
  return { state: items.every((item) => item.state === "done") ? "done" : "failed", items, files };
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
  const { locationId } = planned;
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

/** Makes a till's entries from what the service has of it: undefined when it has no report. */
function exportTill(stored: TillReport | undefined, config: AccountingRules): TillOutcome {
  if (!stored) return failed("no_report", "The till has no report: it was made in school mode.");
  if (stored.accountingFacts === null) {
    return failed(
      "outdated_report",
      "The report was made before there were exports: have the till processed again, then export it.",
    );
  }
  const report = JSON.parse(stored.v2) as ReportV2;
  const facts = JSON.parse(stored.accountingFacts) as TillFacts;
  const { entries, gaps } = journalOfTill(report, facts, config);
  if (!entries) return failed("unbalanced", "Debit and credit of this till would differ: see gaps.", gaps);
  const { tillId, finalizedAt, siretCode: siret } = report;
  return { till: { tillId, entries, finalizedAt, day: facts.day, siret }, failure: null };
}

function failed(code: AccountingFailure["code"], message: string, gaps: AccountingFailure["gaps"] = []): TillOutcome {
  return { till: null, failure: { code, message, gaps } };
}
