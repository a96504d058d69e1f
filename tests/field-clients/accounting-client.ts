import {
  fetchAllPagesAsOlderTestClient,
  fetchAsOlderTestClient,
  type OlderTestClientSettings,
} from "./field-client-api.ts";

interface Report {
  id: string;
  totalSales: number;
  reportPayments: { paymentAmount: number; paymentCatalogId: string | null }[];
}

interface PaymentMethod {
  id: string;
  name: string;
}

/**
 * Returns the ids and the total sales of all listed reports, and their total payments for each payment method, by the
 * method's name in the catalog.
 */
export async function fetchReportTotalsAsOlderClient(api: OlderTestClientSettings) {
  const methods = await fetchAsOlderTestClient<PaymentMethod[]>(api, "/v1/catalog/payments");
  const nameById = new Map(methods.map(({ id, name }) => [id, name]));
  const reports = await fetchAllPagesAsOlderTestClient<Report>(api, "/v1/reports");
  const takings: Record<string, number> = {};
  for (const { paymentAmount, paymentCatalogId } of reports.flatMap(({ reportPayments }) => reportPayments)) {
    const name = nameById.get(paymentCatalogId ?? "") ?? "unknown";
    takings[name] = (takings[name] ?? 0) + paymentAmount;
  }
  return {
    reportIds: reports.map(({ id }) => id),
    sales: reports.reduce((sum, { totalSales }) => sum + totalSales, 0),
    takings,
  };
}
