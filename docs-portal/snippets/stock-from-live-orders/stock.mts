// Usage: PRAGMA_API_KEY=… npx tsx stock.mts state.json
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { type ApiSchemaTypes, createApiClient, nullOnProblem } from "@pragma/client";

type Order = ApiSchemaTypes["OrderData"];
type Quantities = Record<string, number>;

const { PRAGMA_URL = "http://127.0.0.1:4000", PRAGMA_API_KEY = "" } = process.env;
const client = createApiClient({ baseUrl: PRAGMA_URL, apiKey: PRAGMA_API_KEY });
const stateFile = process.argv[2] ?? "state.json";

/** The last event that was processed, and the quantities that were taken from stock for each order. */
const state: { lastEventId: string; orders: Record<string, { isLive: boolean; quantities: Quantities }> } = existsSync(
  stateFile,
)
  ? JSON.parse(readFileSync(stateFile, "utf8"))
  : { lastEventId: "", orders: {} };

/** Returns what an order takes from stock, by product ID: thousandths of a unit, or grams of a product sold by weight. */
function quantitiesOf(order: Order): Quantities {
  const quantities: Quantities = {};
  if (order.isCanceled) return quantities;
  for (const row of [...order.productRowList, ...order.menuRowList.flatMap((menu) => menu.productRowList)]) {
    const isChildOfSplit = row.parentProductRowId !== null; // The original row has the whole quantity.
    const isInOtherOrder = row.isTransferred && !order.isTransferred;
    if (row.productId === null || row.isCanceled || isChildOfSplit || isInOtherOrder) continue;
    const quantity = row.quantity * Math.round((row.weight ?? 1) * 1000);
    quantities[row.productId] = (quantities[row.productId] ?? 0) + quantity;
  }
  return quantities;
}

/** Changes the stock by the difference between the new quantities of an order and those that were already taken. */
function updateStock(orderId: string, quantities: Quantities, isLive: boolean) {
  const taken = state.orders[orderId]?.quantities ?? {};
  for (const productId of new Set([...Object.keys(taken), ...Object.keys(quantities)])) {
    const change = (taken[productId] ?? 0) - (quantities[productId] ?? 0);
    if (change !== 0) console.log(JSON.stringify({ productId, change: change / 1000, orderId }));
  }
  state.orders[orderId] = { isLive, quantities };
}

/** Updates the stock with the final state of an order. An order that is not in the report of its till takes nothing. */
async function updateStockWithFinishedOrder(id: string) {
  const order = await nullOnProblem(client.GET("/v2/orders/{id}", { params: { path: { id } } }), "order_not_found");
  updateStock(id, order ? quantitiesOf(order.data) : {}, false);
}

/** The orders that the stream has sent since it started, until it is ready. */
let initialOrderIds: Set<string> | null = null;

async function processEvent(event: string, data: string) {
  if (event === "reset") initialOrderIds = new Set();
  if (event === "order") {
    const order: ApiSchemaTypes["OrderLive"] = JSON.parse(data);
    initialOrderIds?.add(order.id);
    updateStock(order.id, quantitiesOf(order.data), true);
  }
  if (event === "left") {
    const { id, reason } = JSON.parse(data);
    if (reason === "till") await updateStockWithFinishedOrder(id);
    if (reason === "training") updateStock(id, {}, false);
  }
  if (event === "ready" && initialOrderIds) {
    // These orders left the live list while the program was not connected.
    for (const [id, { isLive }] of Object.entries(state.orders))
      if (isLive && !initialOrderIds.has(id)) await updateStockWithFinishedOrder(id);
    initialOrderIds = null;
  }
}

async function readStream() {
  const silence = new AbortController();
  const timer = setTimeout(() => silence.abort(new Error("The connection is lost.")), 35_000);
  try {
    const response = await fetch(`${PRAGMA_URL}/v1/orders-live/stream`, {
      headers: { authorization: `Bearer ${PRAGMA_API_KEY}`, "last-event-id": state.lastEventId },
      signal: silence.signal,
    });
    if (!response.ok || !response.body)
      throw new Error(`${response.status}: ${await response.text()}`, { cause: response });
    initialOrderIds = state.lastEventId === "" ? new Set() : null;
    let event = "";
    let data = "";
    let id = state.lastEventId;
    let incompleteLine = "";
    for await (const text of response.body.pipeThrough(new TextDecoderStream())) {
      timer.refresh();
      const lines = `${incompleteLine}${text}`.split("\n");
      incompleteLine = lines.pop() ?? "";
      for (const line of lines) {
        if (line.startsWith("event: ")) event = line.slice(7);
        if (line.startsWith("data: ")) data = line.slice(6);
        if (line.startsWith("id:")) id = line.slice(3).trim();
        if (line !== "") continue;
        await processEvent(event, data);
        event = "";
        if (initialOrderIds === null) saveState(id);
      }
    }
  } finally {
    clearTimeout(timer);
  }
}

function saveState(lastEventId: string) {
  state.lastEventId = lastEventId;
  writeFileSync(`${stateFile}.new`, JSON.stringify(state));
  renameSync(`${stateFile}.new`, stateFile);
}

for (;;) {
  let seconds = 1;
  try {
    await readStream();
  } catch (error) {
    const { message, cause } = error as Error;
    console.error(message);
    if (cause instanceof Response) {
      if ([400, 401, 403, 404].includes(cause.status)) process.exit(1); // The same request would fail again.
      seconds = Number(cause.headers.get("retry-after")) || 1;
    }
  }
  // The random time prevents all programs from reconnecting at the same moment.
  await sleep(1_000 * seconds * (1 + Math.random() / 2));
}
