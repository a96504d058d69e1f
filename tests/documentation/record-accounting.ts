import { eventually } from "@pragma/runtime/testing/eventually";
import { type DocumentationExampleLocation, documentationHomePageTill } from "./documentation-fixture.ts";
import { documentationEdgeCaseTill } from "./edge-case-till.ts";
import { createExampleOrder, createExampleProductRow, shiftExampleOrderTimes } from "./example-order.ts";

const dayMinutes = 24 * 60;

const consistentOrder = createExampleOrder(4100, {
  products: [createExampleProductRow(4101, "Burger maison", 1650)],
});

/** A till with one order whose total is one euro higher than the prices of its products. */
const inconsistentTill = {
  ...documentationEdgeCaseTill,
  id: "7c9d2f64-1f0e-4b8e-9a53-2c6e8d1b4a77",
  reportNumber: 21,
  startedAt: "2026-05-27T06:00:00.000Z",
  finalizedAt: "2026-05-27T20:40:00.000Z",
  orderList: [
    shiftExampleOrderTimes({ ...consistentOrder, total: consistentOrder.total + 100, leftToPay: 100 }, -4 * dayMinutes),
  ],
};

/** Records the examples of an accounting config, an export, its file, and an export in which a till fails. */
export async function recordAccountingExamples(
  { recorder, createKey }: DocumentationExampleLocation,
  url: string,
): Promise<void> {
  const { recordExchange, sendRequest, recordExample } = recorder;
  const key = await createKey("Accounting software", ["reports:read", "tills:write", "accounting:write"]);
  const config = await recordExchange("accounting-config", {
    method: "POST",
    path: "/v1/accounting/configs",
    body: { name: "Cabinet Martin", payments: { card: { account: "5121", label: "CIC" } } },
    key,
  });

  const exportTills = async (name: string, tillIds: string[]) => {
    const { id } = await recordExchange(`accounting-export-${name}-request`, {
      method: "POST",
      path: "/v1/accounting/exports",
      body: tillIds.map((tillId) => ({ tillId, accountingConfigId: config.id, accountingProvider: "FULLL" })),
      key,
    });
    const path = `/v1/accounting/exports/${id}`;
    await eventually("the export to end", async () => {
      const { body } = await sendRequest({ path, key });
      return body.state === "done" || body.state === "failed";
    });
    await recordExchange(`accounting-export-${name}`, { path, key });
    return id;
  };

  const exportId = await exportTills("done", [documentationHomePageTill.id]);
  const file = await fetch(`${url}/v1/accounting/exports/${exportId}/files/1`, {
    headers: { authorization: `Bearer ${key}` },
  });
  const text = new TextDecoder("iso-8859-15").decode(await file.arrayBuffer());
  recordExample("accounting-file", { text: text.replaceAll("\r\n", "\n") });

  recorder.keepIds(inconsistentTill);
  await sendRequest({ method: "POST", path: "/v2/tills", body: inconsistentTill, key });
  await eventually("the report of the inconsistent till", async () => {
    const { body } = await sendRequest({ path: "/v2/reports?since=2026-05-27&until=2026-05-27", key });
    return body.meta.totalCount === 1;
  });
  await exportTills("failed", [documentationHomePageTill.id, inconsistentTill.id]);
}
