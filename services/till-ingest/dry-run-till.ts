import { promisify } from "node:util";
import { brotliCompress, constants } from "node:zlib";
import { ApiError } from "@pragma/contracts/errors";
import { TillDryRun, type TillDryRunRequest, tillDryRunTopic } from "@pragma/contracts/till-dry-run";
import { Admission } from "@pragma/runtime/admission/admission";
import { consumeDailyQuotasOrThrow } from "@pragma/runtime/admission/daily-quota";
import { locationLimits } from "@pragma/runtime/admission/limits";
import type { LocationLookupClient } from "@pragma/runtime/service-calls/location-lookup";
import type { TillIngestServiceContext } from "./context.ts";
import { requireAvailableTillId, type TillSubmission } from "./store-pushed-till.ts";
import { findCurrencyWarnings } from "./validation/row-warnings.ts";

const compress = promisify(brotliCompress);

/** More than a request can wait in reporting, and less than the gateway waits, so that the caller gets the error of this service. */
const timeoutMs = 20_000;
/** NATS accepts messages of up to 1 MiB. base64 needs a third more bytes, and 16 KiB are left for the rest. */
const maxCompressedBytes = ((1024 - 16) * 1024 * 3) / 4;

/** reporting calculates one at a time for each location, and each request that waits occupies a connection of the gateway. */
const dryRuns = new Admission(locationLimits.tillDryRuns);

interface DryRunServices extends Pick<TillIngestServiceContext, "db" | "quotasOf" | "sendBusRequest"> {
  locations: Pick<LocationLookupClient, "getCurrency">;
}

/**
 * Returns what the push of a till would result in, as reporting computes and checks it. Nothing is stored: the body is
 * sent over NATS. @throws `ApiError` till_conflict; body_too_large; quota_exceeded; rate_limited when the location has
 * too many unfinished dry runs; service_unavailable when reporting does not reply in time.
 */
export async function dryRunTill(
  { db, quotasOf, locations, sendBusRequest }: DryRunServices,
  { location, till, context }: Omit<TillSubmission, "principal">,
): Promise<TillDryRun> {
  const { id: locationId, timeZone } = location;
  const quotas = quotasOf(location);
  const release = dryRuns.hold(locationId);
  try {
    const { metadata, hash, bytes, currencies, warnings } = till;
    const { tillId, format: version, orderCount } = metadata;
    context.addLogFields({ tillId, bodyBytes: bytes.byteLength, isDryRun: true });
    // Quality 4 is as fast as gzip and needs less space. Runs in a thread of libuv.
    const compression = compress(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } });
    // A push that is rejected does not wait for the compression.
    compression.catch(() => {});
    await requireAvailableTillId(db, { id: tillId, locationId, hash });
    const compressed = await compression;
    if (compressed.byteLength > maxCompressedBytes) {
      throw new ApiError("body_too_large", {
        detail:
          "With `dryRun=true`, the body can have at most about 750 KB after compression. Push the till without `dryRun`.",
      });
    }
    await db.transaction((tx) =>
      consumeDailyQuotasOrThrow(tx, locationId, [
        { quota: quotas.dryRuns, amount: 1 },
        { quota: quotas.dryRunOrders, amount: orderCount },
      ]),
    );
    const currency = currencies.length > 0 ? await locations.getCurrency(locationId, context) : null;
    const currencyWarnings = currency === null ? [] : findCurrencyWarnings(currencies, currency);
    const body = compressed.toString("base64");
    const request: TillDryRunRequest = {
      locationId,
      timeZone,
      tillId,
      version,
      hash,
      body,
      bodyBytes: bytes.byteLength,
    };
    const text = JSON.stringify(request);
    return context.runStep({ name: "request dry run" }, async () => {
      const reply = await sendBusRequest(tillDryRunTopic, text, { timeoutMs }).catch((cause) => {
        throw new ApiError("service_unavailable", {
          detail: "The till could not be checked. Nothing was stored. Retry shortly.",
          cause,
        });
      });
      const result = TillDryRun.parse(JSON.parse(reply));
      return { ...result, warnings: [...warnings, ...currencyWarnings, ...result.warnings] };
    });
  } finally {
    release();
  }
}
