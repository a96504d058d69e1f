/** The business day of the example report in the documentation. */
export const dayExample = {
  day: "2026-05-29",
  locationId: "7d0c1c1e-4f6f-4c8b-9c53-0f8f4c1f9a11",
  state: "closed",
  reasons: [],
  revision: 1,
  updatedAt: "2026-05-29T21:41:52.391Z",
  tillCount: 1,
  tills: [
    {
      tillId: "1ec9cf7f-f9e7-4488-8a7f-fc282b7050b9",
      reportId: "dc0c0667-eb87-584d-8e25-b0b7f75fed3a",
      reportNumber: 24,
      revision: 1,
      deviceIdentifier: "a79dcf2c-b247-4374-aa48-93bc9fecd469",
      deviceName: "iPad Caisse 3",
      startedAt: "2026-05-29T08:00:00.000Z",
      finalizedAt: "2026-05-29T15:05:00.000Z",
      totalSales: 3430,
      isComplete: true,
    },
  ],
  totals: {
    totalSales: 3430,
    orderCount: 1,
    guestsNumber: 2,
    discounts: 0,
    taxes: [{ taxRate: 1000, taxableAmount: 3118, taxAmount: 312 }],
    payments: [
      { paymentMode: "card", recordedAmount: 3430, tipsAmount: 200, changeAmount: 0, declaredAmount: 3430 },
    ],
  },
  reconciliation: [
    {
      code: "recorded_payments",
      status: "passed",
      meaning:
        "The payments that are attached to orders equal the totals that the point of sale declared, for each payment mode, without tips.",
      difference: 0,
      amounts: [
        { name: "recorded", amount: 3430 },
        { name: "declared", amount: 3430 },
      ],
      findingCount: 0,
      findings: [],
      uncheckedTillIds: [],
    },
    {
      code: "cash",
      status: "failed",
      meaning: "The counted cash equals the cash at the start of the shift, plus payments, tips and movements in cash.",
      difference: -1500,
      amounts: [
        { name: "opening", amount: 15000 },
        { name: "cashPayments", amount: 0 },
        { name: "cashTips", amount: 0 },
        { name: "cashMovements", amount: 0 },
        { name: "counted", amount: 13500 },
      ],
      findingCount: 1,
      findings: [
        {
          tillId: "1ec9cf7f-f9e7-4488-8a7f-fc282b7050b9",
          otherTillId: null,
          paymentMode: null,
          taxRate: null,
          deviceIdentifier: null,
          firstReportNumber: null,
          lastReportNumber: null,
          difference: -1500,
        },
      ],
      uncheckedTillIds: [],
    },
  ],
};
