import { randomUUID } from "node:crypto";
import { tillV1Example } from "@pragma/contracts/examples/till-v1";
import { generateTill } from "@pragma/simulator/generate-till";

/** A small till that nobody has pushed yet. */
export const createTillInput = () => generateTill({ seed: "new", orders: 1, day: "2026-06-01", tillId: randomUUID() });

/** A till of the older format, of the location that a legacy backoffice knows by these. */
export function createTillV1Input(
  { application, legacyId }: { application: string; legacyId: number },
  tillId: string = randomUUID(),
) {
  const { tillJson } = tillV1Example;
  const tickets = tillJson.tickets.map((ticket) => ({ ...ticket, order_id: randomUUID() }));
  return { ...tillV1Example, application, legacyId, tillJson: { ...tillJson, client_id: tillId, tickets } };
}
