import { readFileSync } from "node:fs";
import { packageFolder } from "@pragma/runtime/package-folder";
import type { Random } from "@pragma/simulator/random";

interface OlderTill {
  application: string;
  legacyId: number;
  tillJson: { client_id: string; tickets: { order_id: string }[] };
}

const sampleFile = `${packageFolder(import.meta.resolve("@pragma/reporting/service"))}/samples/small-v1.till.json`;
const sample = readFileSync(sampleFile, "utf8");

/** The sample of the older format as a till of its own: of this location, under another id and with other orders' ids. */
export function olderTill(
  random: Random,
  { application, legacyId }: { application: string; legacyId: number },
): OlderTill {
  const { tillJson } = JSON.parse(sample) as OlderTill;
  const tickets = tillJson.tickets.map((ticket) => ({ ...ticket, order_id: random.uuid() }));
  return { application, legacyId, tillJson: { ...tillJson, client_id: `s${random.uuid().toUpperCase()}`, tickets } };
}
