import { orderLiveInputExample } from "@pragma/contracts/examples/order-live";
import type { DocumentationExampleLocation } from "./documentation-fixture.ts";
import {
  createExampleOrder,
  createExamplePaymentRow,
  createExampleProductRow,
  createExampleUuid,
  shiftExampleOrderTimes,
} from "./example-order.ts";
import { documentedApiUrl } from "./example-recorder.ts";

const tillId = "3b8f0b1c-9a1e-4a57-8a3f-5d0a4c6c2e77";

const pasta = createExampleProductRow(2001, "Tagliatelle", 1450, {
  modifierRowList: [{ id: createExampleUuid(2002), amount: 150, name: "Truffe", modifierGroupName: "Suppléments" }],
});
const wine = createExampleProductRow(2003, "Verre de vin", 600, {
  quantity: 2,
  recordedAt: "2026-05-31T10:31:00.000Z",
  modifiedAt: "2026-05-31T10:31:00.000Z",
});

/** The times at which the point of sale sends the three revisions: lunch time in Paris. */
const orderedAt = "2026-06-01T10:20:00.000Z";
const wineOrderedAt = "2026-06-01T10:31:00.000Z";
const paidAt = "2026-06-01T11:10:00.000Z";

const dayMinutes = 24 * 60;

function createLiveOrder(
  rows: Parameters<typeof createExampleOrder>[1],
  changes: NonNullable<Parameters<typeof createExampleOrder>[2]> = {},
) {
  return { ...shiftExampleOrderTimes(createExampleOrder(2000, rows, { tableName: "12" }), dayMinutes), ...changes };
}

const unpaid = { isPaid: false, closedAt: null };
const opened = createLiveOrder({ products: [pasta], payments: [] }, { ...unpaid, modifiedAt: orderedAt });
const withWine = createLiveOrder({ products: [pasta, wine], payments: [] }, { ...unpaid, modifiedAt: wineOrderedAt });
const payment = createExamplePaymentRow(2004, 2800, { tipAmount: 200 });
const paid = createLiveOrder({ products: [pasta, wine], payments: [payment] }, { paidAt, modifiedAt: paidAt });

/** Returns a revision of the live order, as a point of sale sends it after a change. */
function createRevision(revisionHash: string, data: object) {
  const { establishmentName, city, country } = orderLiveInputExample;
  return { id: createExampleUuid(2000), tillId, revisionHash, establishmentName, city, country, data };
}

/** Records the requests that open, change and pay a live order, and the stream of the resulting events. */
export async function recordLiveOrderExamples(
  { recorder, key }: DocumentationExampleLocation,
  url: string,
): Promise<void> {
  const { recordExchange, recordExample, setTime } = recorder;
  recorder.keepIds([opened, withWine, paid, tillId]);
  const upsertRequest = (body: unknown) => ({ method: "POST", path: "/v1/orders-live", body: [body] }) as const;
  setTime(orderedAt);
  await recordExchange("live-opened", upsertRequest(createRevision("rev-1", opened)));
  await recordExchange("live-unchanged", upsertRequest(createRevision("rev-1", opened)));
  const stream = await openTextStream(`${url}/v1/orders-live/stream`, key);
  await stream.until("event: ready");
  setTime(wineOrderedAt);
  await recordExchange("live-changed", upsertRequest(createRevision("rev-2", withWine)));
  await stream.until("rev-2");
  await recordExchange("live-list", { path: "/v1/orders-live?isPaid=false" });
  setTime(paidAt);
  await recordExchange("live-paid", upsertRequest(createRevision("rev-3", paid)));
  await stream.until("rev-3");
  recordExample("live-stream", {
    url: `${documentedApiUrl}/v1/orders-live/stream`,
    text: shortenStreamText(stream.text()),
  });
  stream.close();
  setTime();
}

/** Returns the text of a stream, in which each order has only its id, revision hash, total and payment state. */
function shortenStreamText(text: string): string {
  return text.replace(/^data: (\{"id".*)$/gm, (_, json) => {
    const { id, revisionHash, total, data } = JSON.parse(json);
    return `data: ${JSON.stringify({ id, revisionHash, total, isPaid: data.isPaid }).replace(/\}$/, ", ...}")}`;
  });
}

async function openTextStream(url: string, key: string) {
  const controller = new AbortController();
  const response = await fetch(url, { headers: { authorization: `Bearer ${key}` }, signal: controller.signal });
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  return {
    text: () => text,
    async until(part: string) {
      while (!text.includes(part) || !text.endsWith("\n\n")) {
        const chunk = await reader?.read();
        if (!chunk || chunk.done) throw new Error(`The stream ended before ${part}.`);
        text += chunk.value;
      }
    },
    close: () => controller.abort(),
  };
}
