/** The data of the home page, limited to the fields that the page shows. `home-page-day.mjs` computes this data. */
declare module "@site/.generated/home-page-day.json" {
  const homePageDay: {
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
    /** The sum of the refunds that were not paid out, in minor units. */
    unpaidRefunds: number;
  };
  export default homePageDay;
}
