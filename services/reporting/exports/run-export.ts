import { createHash, randomUUID } from "node:crypto";
import { ApiError } from "@pragma/contracts/errors";
import type { Principal } from "@pragma/contracts/principal";
import { startClaimLoop } from "@pragma/runtime/database/claim-loop";
import { runAfterCommit, type SqlTransaction } from "@pragma/runtime/database/postgres";
import { type AuditSource, publishAuditEvent } from "@pragma/runtime/messaging/audit-events";
import { type ObservabilityContext, runWithObservabilityContext } from "@pragma/runtime/observability/request-context";
import { SpanKind } from "@pragma/runtime/observability/tracing";
import { isRemovedLocationError } from "@pragma/runtime/retries/transient-error";
import type { ReportingContext } from "../context.ts";
import { recordUpload } from "../documents/queries/unused-objects.ts";
import {
  claimExports,
  type ExportClaim,
  type FileToStore,
  failExport,
  isHeld,
  releaseExportClaim,
  renewExportClaim,
  storeExportFiles,
} from "./export-claims.ts";
import type { ExportKind, ExportTypes } from "./export-kind.ts";
import {
  type ExportFileRow,
  type ExportRow,
  exportColumnNames,
  hasUnfinishedExport,
  isUnfinished,
  lockExports,
  toJson,
} from "./queries/export-queries.ts";

export interface ExportRequest<Types extends ExportTypes> {
  /** Null for an export of several locations. */
  locationId: string | null;
  principal: Principal;
  context: ObservabilityContext;
  audit: AuditSource;
  prepare(tx: SqlTransaction): Promise<{
    request: Types["request"];
    files: Pick<ExportFileRow<Types>, "number" | "locationId" | "details">[];
    auditDetails: object;
  }>;
}

/**
 * Creates an export, which runs in the background. `prepare` returns what to store, after the limit was checked.
 *
 * @throws `ApiError` limit_reached, and what `prepare` throws.
 */
export async function createExport<Types extends ExportTypes>(
  { db, config, pollExports }: Pick<ReportingContext, "db" | "config" | "pollExports">,
  kind: ExportKind<Types>,
  { locationId, principal, context, audit, prepare }: ExportRequest<Types>,
): Promise<ExportRow<Types>> {
  const id = randomUUID();
  const { keyId, consumer } = principal;
  const ownerId = locationId ?? keyId;
  return db.transaction(async (tx) => {
    // Concurrent requests cannot exceed the limit.
    await lockExports(tx, db, ownerId);
    const { name, maximum } = kind.unfinishedLimit(config);
    const [unfinished] = await tx<[{ count: number }]>`
      select count(*) from exports
      where kind = ${kind.name} and ${isUnfinished(tx)} and coalesce(location_id, key_id) = ${ownerId}`;
    if (unfinished.count >= maximum) {
      throw new ApiError("limit_reached", {
        detail: `${locationId ? "This location" : "This API key"} has ${maximum} unfinished exports${locationId ? "" : " for several locations"}, which is the maximum. Wait until one of them has ended.`,
        limit: { name, maximum, unit: locationId ? "exports per location" : "exports per API key" },
      });
    }
    const { auditDetails, files, request } = await prepare(tx);
    const { traceparent } = context;
    const newRow = { id, kind: kind.name, locationId, keyId, consumer, traceparent, request: toJson(tx, request) };
    const [row] = await tx<[ExportRow<Types>]>`
      insert into exports ${tx(newRow as never)} returning ${exportColumnNames(tx)}`;
    for (const { details, ...file } of files) {
      const fileRow = { ...file, exportId: id, details: toJson(tx, details) };
      await tx`insert into export_files ${tx(fileRow as never)}`;
    }
    await publishAuditEvent(tx, audit, {
      ...{ action: `${kind.auditType}.created`, locationId, target: { type: kind.auditType, id } },
      details: { ...auditDetails },
    });
    runAfterCommit(tx, pollExports[kind.name]);
    return row;
  });
}

export type ExportServices = Pick<ReportingContext, "db" | "objects" | "log" | "config" | "locations">;

/** The delay before the first retry, in seconds. It doubles with each further retry, up to the maximum. */
const firstRetryDelaySeconds = 2;
const maxRetryDelaySeconds = 60;
/** The claim is renewed, and the progress stored, after this time. */
const renewalMs = 1_000;
/** Milliseconds between two polls while exports are unfinished, which other instances may have to continue. */
const pollMs = 1_000;
/** Polls find exports whose notification was lost, because their process died or NATS was unavailable. */
const idlePollMs = 10_000;

/** Thrown when the claim was lost, when the process stops, or when exports of other locations wait. */
export class ExportInterruptedError extends Error {}

/** The error for an export that cannot succeed. */
export class ExportFailedError<Types extends ExportTypes> extends Error {
  readonly failure: Types["failure"];

  constructor(failure: Types["failure"] & { message: string }) {
    super(failure.message);
    this.failure = failure;
  }
}

/** `work` writes the remaining files of an export, and returns fields for the log. */
export function startExportLoop<Types extends ExportTypes>(
  services: ExportServices,
  kind: ExportKind<Types>,
  work: (run: ExportRun<Types>) => Promise<object>,
) {
  const { db, log, config } = services;
  return startClaimLoop({
    name: `${kind.name} exports`,
    log,
    claim: (limit) => claimExports(db.sql, kind, { limit, seconds: config.EXPORT_CLAIM_SECONDS }),
    processItem: (claim, signal) => runExport(services, kind, work, { claim, signal }),
    concurrency: kind.concurrency,
    ...{ pollMs, idlePollMs },
    hasItems: () => hasUnfinishedExport(db.sql, kind.name),
  });
}

async function runExport<Types extends ExportTypes>(
  services: ExportServices,
  kind: ExportKind<Types>,
  work: (run: ExportRun<Types>) => Promise<object>,
  { claim, signal }: { claim: ExportClaim; signal: AbortSignal },
): Promise<void> {
  const { db, log, config } = services;
  const { id: exportId, locationId, claimNumber, traceparent, failedAttempts } = claim;
  const operation = { name: `${kind.name} export`, kind: SpanKind.CONSUMER };
  await runWithObservabilityContext({ traceparent, operation }, async (context) => {
    const startedMs = performance.now();
    const fields = () => {
      const milliseconds = performance.now() - startedMs;
      return { exportId, locationId, claimNumber, traceId: context.traceId, milliseconds };
    };
    try {
      const [row] = await db.sql<ExportRow<Types>[]>`
        select ${exportColumnNames(db.sql)} from exports where ${isHeld(db.sql, claim)}`;
      if (!row) return;
      const finished = await work(createExportRun(services, kind, row, { claim, context, signal }));
      log.info({ ...fields(), ...finished }, `${kind.name} export finished`);
    } catch (error) {
      // A removed location's exports have been deleted, or are about to be.
      if (error instanceof ExportInterruptedError || isRemovedLocationError(error)) {
        const afterSeconds = isRemovedLocationError(error) ? maxRetryDelaySeconds : 0;
        await releaseExportClaim(db.sql, claim, { afterSeconds });
        return;
      }
      const isLastAttempt = failedAttempts + 1 >= kind.maxFailedAttempts;
      const hasFailed = error instanceof ExportFailedError;
      const failure = hasFailed ? error.failure : isLastAttempt ? kind.toFailure?.(error) : undefined;
      log[hasFailed ? "info" : "error"]({ ...fields(), err: error }, `${kind.name} export failed`);
      const retentionDays = kind.retentionDays(config);
      if (failure) await db.transaction((tx) => failExport(tx, claim, { failure, retentionDays }));
      else {
        const afterSeconds = Math.min(maxRetryDelaySeconds, firstRetryDelaySeconds * 2 ** failedAttempts);
        await releaseExportClaim(db.sql, claim, { afterSeconds, hasFailed: true });
      }
    }
  });
}

/** The state of a running export, with what its kind needs to write files. */
export type ExportRun<Types extends ExportTypes> = ReturnType<typeof createExportRun<Types>>;

function createExportRun<Types extends ExportTypes>(
  services: ExportServices,
  kind: ExportKind<Types>,
  row: ExportRow<Types>,
  { claim, context, signal }: { claim: ExportClaim; context: ObservabilityContext; signal: AbortSignal },
) {
  const { db, objects, config, locations } = services;
  let renewedAtMs = Number.NEGATIVE_INFINITY;

  async function upload({ locationId, number }: FileToStore<Types>, content: Uint8Array) {
    const objectKey = `${kind.objectFolder}/${locationId}/${claim.id}-${number}-${randomUUID()}`;
    await recordUpload(db.sql, { locationId, objectKey });
    await objects.put(objectKey, content);
    return { objectKey, bytes: content.byteLength, sha256: createHash("sha256").update(content).digest("hex") };
  }

  return {
    services,
    claim,
    row,
    /** Whether the attempts before failed or crashed so often that the export must end without another one. */
    hasFailedTooOften: claim.failedAttempts >= kind.maxFailedAttempts,

    /**
     * Renews the claim, and stores the progress, at most once a second.
     *
     * @throws `ExportInterruptedError` when the claim was lost or the process stops.
     */
    async renewClaim(progress: ExportRow<Types>["progress"]): Promise<void> {
      if (signal.aborted) throw new ExportInterruptedError();
      if (performance.now() - renewedAtMs < renewalMs) return;
      renewedAtMs = performance.now();
      const seconds = config.EXPORT_CLAIM_SECONDS;
      if (!(await renewExportClaim(db.sql, claim, { seconds, progress }))) throw new ExportInterruptedError();
    },

    /**
     * Uploads files, and stores them with the progress in one transaction. `end` ends the export.
     *
     * @throws `ExportInterruptedError` when the claim was lost.
     */
    async storeFiles(
      files: (FileToStore<Types> & { content?: Uint8Array })[],
      { progress, end }: { progress: Types["progress"]; end?: "done" | "failed" },
    ): Promise<void> {
      const stored: FileToStore<Types>[] = [];
      for (const { content, ...file } of files) {
        stored.push(content ? { ...file, ...(await upload(file, content)) } : file);
      }
      const changes = { progress, ...(end && { end: { state: end, retentionDays: kind.retentionDays(config) } }) };
      if (!(await db.transaction((tx) => storeExportFiles(tx, claim, stored, changes))))
        throw new ExportInterruptedError();
    },

    /**
     * Returns the currency of a location, or null for a location that is being removed. Other errors of accounts fail the
     * attempt, because other decimals would be other amounts.
     */
    async findCurrency(locationId: string): Promise<string | null> {
      return locations.getCurrency(locationId, context).catch((error: unknown) => {
        if (error instanceof ApiError && error.code === "location_not_found") return null;
        throw error;
      });
    },
  };
}
