import { tillCheckRequestSchema, tillCheckTopic } from "@pragma/contracts/till-check";
import type { BusRequestHandler } from "@pragma/runtime/messaging/event-bus";
import { largeTillBytes } from "../threaded-till-report-calculator.ts";
import { checkTill, type TillCheckServices } from "./check-till.ts";
import { runQueuedTillCheck } from "./till-check-queue.ts";

/** Calculates and checks a till for a push with `dryRun=true`, and stores nothing. */
export const tillCheckHandler: BusRequestHandler<TillCheckServices> = {
  topic: tillCheckTopic,
  async handle(services, text) {
    const request = tillCheckRequestSchema.parse(JSON.parse(text));
    const { locationId, bodyBytes = largeTillBytes } = request;
    return JSON.stringify(await runQueuedTillCheck({ locationId, bodyBytes }, () => checkTill(services, request)));
  },
};
