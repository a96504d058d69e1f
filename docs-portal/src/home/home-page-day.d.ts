/** The part of the report that the home page shows. The build generates this file with home-page-day.mjs. */
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
  };
  export default homePageDay;
}
