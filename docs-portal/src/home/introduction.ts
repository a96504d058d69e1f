/** The sentences that introduce the API on the home page and in its Markdown copy. */
export const homePageIntroduction = {
  purpose: "Get end-of-day reports, orders and catalogs of restaurants, bars and hotels from their points of sale.",
  audience:
    "The API is for developers of accounting, inventory, delivery, hotel and point-of-sale software. Try it with 30 days of data: create a sandbox of your own, or start the API on your machine.",
};
