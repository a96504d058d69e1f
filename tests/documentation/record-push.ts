import { tillV1Example } from "@pragma/contracts/examples/till-v1";
import { eventually } from "@pragma/runtime/testing/eventually";
import { lunchTill } from "./lunch-till.ts";
import { type PushGuideLocation, pushGuideLegacyId } from "./push-guide-location.ts";

/** A till with only the required fields. Its shift had no orders. */
const minimalTill = {
  id: "c3f7d2a0-1b64-4f0e-8f5e-2f4be0c3a901",
  startedAt: "2026-05-31T09:00:00.000Z",
  finalizedAt: "2026-05-31T09:20:00.000Z",
  reportNumber: 881,
  financialMovementList: [],
  declaredPaymentList: [],
  clerkShiftList: [],
  orderList: [],
};

const trainingTill = { ...minimalTill, id: "c3f7d2a0-1b64-4f0e-8f5e-2f4be0c3a902", isTraining: true };

/** A till with the mistakes that integrations make most often. */
const invalidTill = {
  ...minimalTill,
  id: "2026-06-01-lunch",
  startedAt: "2026-06-01T11:00:00",
  finalizedAt: lunchTill.finalizedAt,
  orderList: [withMistakes(lunchTill.orderList[1])],
};

/** Returns an order with an amount in euros, without a number of guests, and with an unknown payment status. */
function withMistakes(order: (typeof lunchTill.orderList)[number] | undefined) {
  if (order === undefined) throw new Error("The lunch till has no second order.");
  const { guestsCount: _omitted, ...rest } = order;
  const paymentRowList = order.paymentRowList.map((row) => ({ ...row, status: "paid" }));
  return { ...rest, total: order.total / 100, paymentRowList };
}

/** Records the pushes of a till, its replacement, its report and orders, and the push of a V1 till. */
export async function recordTillPushExamples({ recorder }: PushGuideLocation): Promise<void> {
  const { recordExchange, sendRequest, keepIds } = recorder;
  const push = (body: unknown) => ({ method: "POST", path: "/v2/tills", body }) as const;
  keepIds([lunchTill, minimalTill, trainingTill, tillV1Example]);

  await recordExchange("push-minimal-till", push(minimalTill));
  await recordExchange("push-till", push(lunchTill));
  await recordExchange("push-till-again", push(lunchTill));
  const orderList = lunchTill.orderList.map((order, index) => (index === 1 ? { ...order, guestsCount: 2 } : order));
  const corrected = { ...lunchTill, orderList };
  await recordExchange("push-changed-till", push(corrected));
  await recordExchange("push-invalid-till", push(invalidTill));
  await recordExchange("push-training-till", push(trainingTill));

  await eventually("the reports of both tills", async () => {
    const { body } = await sendRequest({ path: "/v2/reports" });
    return body.meta.totalCount === 2;
  });
  await recordExchange("pushed-till", { path: `/v1/tills/${lunchTill.id}` });
  const reports = await recordExchange("pushed-till-reports", {
    path: `/v2/reports?tillId=${lunchTill.id}`,
  });
  await recordExchange("pushed-till-report", { path: `/v2/reports/${reports.data[0].id}` });
  await eventually("the device of the till", async () => {
    const { body } = await sendRequest({ path: "/v1/locations/own?devices=true" });
    return body.deviceList.length === 1;
  });
  await recordExchange("pushed-till-device", { path: "/v1/locations/own?devices=true" });
  const replacedOrder = orderList[1];
  await recordExchange("replace-till", { method: "PUT", path: `/v1/tills/${lunchTill.id}`, body: corrected });
  await eventually("the report of the replaced till", async () => {
    const { body } = await sendRequest({ path: `/v1/orders/${replacedOrder?.id}` });
    return body.guests === replacedOrder?.guestsCount;
  });

  const tillV1 = { ...tillV1Example, legacyId: pushGuideLegacyId };
  await recordExchange("push-till-v1", { method: "POST", path: "/v1/tills", body: tillV1 });
}
