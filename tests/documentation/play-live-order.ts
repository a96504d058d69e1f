import { orderLiveInputExample } from "@pragma/contracts/examples/order-live";
import { exampleId, order, payment, product } from "./order-rows.ts";
import { shownUrl } from "./recorder.ts";
import type { Stage } from "./stage.ts";

const tillId = "3b8f0b1c-9a1e-4a57-8a3f-5d0a4c6c2e77";

const pasta = product(2001, "Tagliatelle", 1450, {
  modifierRowList: [{ id: exampleId(2002), amount: 150, name: "Truffe", modifierGroupName: "Suppléments" }],
});
const wine = product(2003, "Verre de vin", 600, { quantity: 2 });

const opened = order(2000, { products: [pasta], payments: [] }, { isPaid: false, closedAt: null, tableName: "12" });
const withWine = order(
  2000,
  { products: [pasta, wine], payments: [] },
  { isPaid: false, closedAt: null, tableName: "12", modifiedAt: "2026-06-01T08:40:00.000Z" },
);
const paid = order(
  2000,
  { products: [pasta, wine], payments: [payment(2004, 2800, { tipAmount: 200 })] },
  { tableName: "12", paidAt: "2026-06-01T09:00:00.000Z", modifiedAt: "2026-06-01T09:00:00.000Z" },
);

/** A live order as the point of sale sends it, each time that it changes. */
function revision(revisionHash: string, data: object) {
  const { establishmentName, city, country } = orderLiveInputExample;
  return { id: exampleId(2000), tillId, revisionHash, establishmentName, city, country, data };
}

/** The life of a live order: opened, added to, paid; and the stream that tells of it. */
export async function playLiveOrder({ recorder, key }: Stage, url: string): Promise<void> {
  const { exchange, tell } = recorder;
  recorder.keep([opened, withWine, paid, tillId]);
  const send = (body: unknown) => ({ method: "POST", path: "/v1/orders-live/", body: [body] }) as const;
  await exchange("live-opened", send(revision("rev-1", opened)));
  await exchange("live-unchanged", send(revision("rev-1", opened)));
  const stream = await listen(`${url}/v1/orders-live/stream`, key);
  await stream.until("event: ready");
  await exchange("live-changed", send(revision("rev-2", withWine)));
  await stream.until("rev-2");
  await exchange("live-list", { path: "/v1/orders-live/?isPaid=false" });
  await exchange("live-paid", send(revision("rev-3", paid)));
  await stream.until("rev-3");
  tell("live-stream", { url: `${shownUrl}/v1/orders-live/stream`, text: shortened(stream.text()) });
  stream.close();
}

/** The stream with of each order only its id, total and whether it is paid: it has every field. */
function shortened(text: string): string {
  return text.replace(/^data: (\{"id".*)$/gm, (_, json) => {
    const { id, revisionHash, total, data } = JSON.parse(json);
    return `data: ${JSON.stringify({ id, revisionHash, total, isPaid: data.isPaid }).replace(/\}$/, ", ...}")}`;
  });
}

async function listen(url: string, key: string) {
  const controller = new AbortController();
  const response = await fetch(url, { headers: { authorization: `Bearer ${key}` }, signal: controller.signal });
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  return {
    text: () => text,
    async until(part: string) {
      while (!text.includes(part) || !text.endsWith("\n\n")) {
        const read = await reader?.read();
        if (!read || read.done) throw new Error(`The stream ended before ${part}.`);
        text += read.value;
      }
    },
    close: () => controller.abort(),
  };
}
