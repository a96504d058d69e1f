import { tillDryRunRequestSchema, tillDryRunTopic } from "@pragma/contracts/till-dry-run";
import { Admission } from "@pragma/runtime/admission/admission";
import { locationLimits } from "@pragma/runtime/admission/limits";
import type { BusRequestHandler } from "@pragma/runtime/messaging/bus-requests";
import { largeTillBytes } from "../till-calculator.ts";
import { computeTillDryRun, type TillDryRunServices } from "./compute-till-dry-run.ts";

/** Separate, so that the dry runs of small tills do not wait for a large one. */
const calculations = {
  small: new Admission(locationLimits.calculatedDryRuns),
  large: new Admission(locationLimits.calculatedDryRuns),
};

/** Returns how many dry runs this process dropped, because they had waited too long. */
export const countDroppedTillDryRuns = (): number =>
  calculations.small.rejectedCount + calculations.large.rejectedCount;

/** Replies with the result of a push with `dryRun=true`, of which nothing is stored. */
export const tillDryRunHandler: BusRequestHandler<TillDryRunServices> = {
  topic: tillDryRunTopic,
  async handle(services, text) {
    const request = tillDryRunRequestSchema.parse(JSON.parse(text));
    const { locationId, bodyBytes } = request;
    const queue = bodyBytes < largeTillBytes ? calculations.small : calculations.large;
    return JSON.stringify(await queue.run(() => computeTillDryRun(services, request), locationId));
  },
};
