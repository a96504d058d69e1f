/** The sales of the example report in the documentation by product, compared with the day before. */
export const metricsExample = {
  since: "2026-05-29",
  until: "2026-05-29",
  compareSince: "2026-05-28",
  compareUntil: "2026-05-28",
  measures: ["sales", "quantity"],
  dimensions: ["product"],
  data: [
    {
      currency: "EUR",
      dimensions: { product: { id: "32135b34-8523-4575-90dd-15d6ac61e3a6", name: "Pizza Regina" } },
      values: { sales: 1440, quantity: 1 },
      comparison: {
        dimensions: { product: { id: "32135b34-8523-4575-90dd-15d6ac61e3a6", name: "Pizza Regina" } },
        values: { sales: 2880, quantity: 2 },
        differences: { sales: -1440, quantity: -1 },
        percents: { sales: -50, quantity: -50 },
      },
    },
    {
      currency: "EUR",
      dimensions: { product: { id: "0ebbe4d0-c551-46d5-9be7-2f6e6e6944d3", name: "Entrecôte frites" } },
      values: { sales: 1300, quantity: 1 },
      comparison: {
        dimensions: { product: { id: "0ebbe4d0-c551-46d5-9be7-2f6e6e6944d3", name: "Entrecôte frites" } },
        values: { sales: 0, quantity: 0 },
        differences: { sales: 1300, quantity: 1 },
        percents: { sales: null, quantity: null },
      },
    },
  ],
  totals: [
    {
      currency: "EUR",
      values: { sales: 3430, quantity: 3 },
      comparison: {
        values: { sales: 2880, quantity: 2 },
        differences: { sales: 550, quantity: 1 },
        percents: { sales: 19.1, quantity: 50 },
      },
      unattributed: { sales: 0 },
    },
  ],
  rowCount: 2,
  omittedRowCount: 1,
  missingReportCount: 0,
};
