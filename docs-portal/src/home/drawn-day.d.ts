/** Made by the build: see drawn-day.mjs. Of the report, what is drawn. */
declare module "@site/.generated/drawn-day.json" {
  const drawn: {
    report: {
      establishmentName: string;
      startedAt: string;
      reportNumber: number;
      totalSales: number;
      orderCount: number;
      guestsNumber: number;
      reportProducts: { category: string | null; productSales: number }[];
      reportPayments: { paymentName: string | null; paymentAmount: number }[];
      reportTaxes: { taxName: string; taxRate: number; taxableAmount: number; taxAmount: number }[];
    };
    sales: { openedAt: string; total: number }[];
  };
  export default drawn;
}
