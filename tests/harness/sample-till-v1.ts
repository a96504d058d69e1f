import { readFileSync } from "node:fs";
import { findEnclosingPackageFolder } from "@pragma/runtime/process/package-folder";
import type { SeededRandom } from "@pragma/simulator/random";

interface SampleTillV1 {
  application: string;
  legacyId: number;
  tillJson: { client_id: string; tickets: { order_id: string }[] };
}

const sampleTillV1Path = `${findEnclosingPackageFolder(import.meta.resolve("@pragma/reporting/service"))}/samples/small-v1.till.json`;
const sampleTillJson = readFileSync(sampleTillV1Path, "utf8");

/** Returns a copy of the V1 sample till that belongs to this location and has new till and order ids. */
export function createSampleTillV1(
  random: SeededRandom,
  { application, legacyId }: { application: string; legacyId: number },
): SampleTillV1 {
  const { tillJson } = JSON.parse(sampleTillJson) as SampleTillV1;
  const tickets = tillJson.tickets.map((ticket) => ({ ...ticket, order_id: random.uuid() }));
  return { application, legacyId, tillJson: { ...tillJson, client_id: `s${random.uuid().toUpperCase()}`, tickets } };
}
