import { readFileSync } from "node:fs";
import { findPackageFolder } from "@pragma/runtime/process/package-folder";
import type { SeededRandom } from "@pragma/simulator/random";

interface SampleTillV1 {
  application: string;
  legacyId: number;
  tillJson: { client_id: string; tickets: { order_id: string }[] };
}

const sampleTillV1Path = `${findPackageFolder(import.meta.resolve("@pragma/reporting/service"))}/samples/small-v1.till.json`;
const sampleTillJson = readFileSync(sampleTillV1Path, "utf8");

/** Returns the V1 sample till with the ids of this location, a new till id and new order ids. */
export function createSampleTillV1(
  random: SeededRandom,
  { application, legacyId }: { application: string; legacyId: number },
): SampleTillV1 {
  const { tillJson } = JSON.parse(sampleTillJson) as SampleTillV1;
  const tickets = tillJson.tickets.map((ticket) => ({ ...ticket, order_id: random.uuid() }));
  return { application, legacyId, tillJson: { ...tillJson, client_id: `s${random.uuid().toUpperCase()}`, tickets } };
}
