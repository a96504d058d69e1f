/** The examples of a bulk export in the documentation. */

const exportId = "3f0a2c9e-7d41-4b62-9c1e-5a8e0f4b7d20";

export const createBulkExportExample = {
  data: "items" as const,
  format: "csv" as const,
  since: "2026-05-01",
  until: "2026-05-31",
};

const sums = { totalRow: 3_912_450, taxableAmount: 3_556_773, taxAmount: 355_677 };
const fileName = "items-2026-05-01-2026-05-31-0001.csv.gz";

export const bulkExportExample = {
  id: exportId,
  locationId: "7f6ec2b0-44f5-4df2-a1cb-3e8f2c0a9d11",
  ...createBulkExportExample,
  state: "done" as const,
  failure: null,
  progress: { daysDone: 31, daysTotal: 31, rows: 2_614 },
  files: [
    {
      name: fileName,
      url: `http://127.0.0.1:4000/v1/exports/${exportId}/files/${fileName}`,
      bytes: 131_204,
      rows: 2_614,
      sha256: "6b1f0f6a0f9ad7b6c0f7a4fbb2bd3b3a4c3e1c7b1f6f0e5d8a9c4d2e7b5a3f10",
      sums,
      firstDay: "2026-05-01",
      lastDay: "2026-05-31",
    },
  ],
  manifest: {
    rows: 2_614,
    reports: 31,
    bytes: 131_204,
    files: 1,
    sums,
    sha256: "0d9c1f4be2a7735c6e8b90a1d3f2c4e5b6a7980f1e2d3c4b5a69788796a5b4c3",
    currencyCode: "EUR",
  },
  createdAt: "2026-06-01T08:00:00.000Z",
  startedAt: "2026-06-01T08:00:00.120Z",
  finishedAt: "2026-06-01T08:00:02.410Z",
  expiresAt: "2026-06-08T08:00:02.410Z",
};
