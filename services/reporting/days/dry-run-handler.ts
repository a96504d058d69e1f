import { tillDryRunRequestSchema, tillDryRunTopic } from "@pragma/contracts/till-dry-run";
import type { BusRequestHandler } from "@pragma/runtime/messaging/bus-requests";
import { computeTillDryRun, type TillDryRunServices } from "./compute-till-dry-run.ts";
import { runQueuedDryRun } from "./dry-run-queue.ts";

/** Replies with the result of a push with `dryRun=true`, of which nothing is stored. */
export const tillDryRunHandler: BusRequestHandler<TillDryRunServices> = {
  topic: tillDryRunTopic,
  async handle(services, text) {
    const request = tillDryRunRequestSchema.parse(JSON.parse(text));
    const { locationId, bodyBytes } = request;
    return JSON.stringify(await runQueuedDryRun({ locationId, bodyBytes }, () => computeTillDryRun(services, request)));
  },
};
