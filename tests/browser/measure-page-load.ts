import type { BrowserContext } from "playwright-core";

/** A slow phone: a quarter of the CPU speed, 1.6 Mbit/s, and a round-trip time of 150 milliseconds. */
const slowPhone = {
  cpuSlowdown: 4,
  network: { offline: false, latency: 150, downloadThroughput: 200_000, uploadThroughput: 90_000 },
  viewport: { width: 390, height: 844 },
};

/** What the browser downloaded for a page, and how soon it showed the page. */
export interface PageLoad {
  /** The transferred bytes of the page itself, including headers. */
  ownBytes: number;
  /** The transferred bytes of the page and of the files that it prefetched while it was idle. */
  totalBytes: number;
  /** The time until the largest text or image was shown (Largest Contentful Paint). */
  largestContentMs: number;
}

/** Measures how a page loads with an empty cache. The context must have its own cache. */
export async function measurePageLoad(
  context: BrowserContext,
  url: string,
  { isSlowPhone }: { isSlowPhone: boolean },
): Promise<PageLoad> {
  const page = await context.newPage();
  const session = await context.newCDPSession(page);
  const isPrefetch = new Map<string, boolean>();
  const bytes = { own: 0, prefetched: 0 };
  await session.send("Network.enable");
  session.on("Network.requestWillBeSent", ({ requestId, request }) => {
    isPrefetch.set(requestId, request.initialPriority === "VeryLow");
  });
  session.on("Network.loadingFinished", ({ requestId, encodedDataLength }) => {
    bytes[isPrefetch.get(requestId) ? "prefetched" : "own"] += encodedDataLength;
  });
  if (isSlowPhone) {
    await page.setViewportSize(slowPhone.viewport);
    await session.send("Network.emulateNetworkConditions", slowPhone.network);
    await session.send("Emulation.setCPUThrottlingRate", { rate: slowPhone.cpuSlowdown });
  }
  await page.goto(url, { waitUntil: "networkidle" });
  const largestContentMs = await page.evaluate<number>(`new Promise((resolve) => {
    new PerformanceObserver((list) => resolve(list.getEntries().at(-1).startTime))
      .observe({ type: "largest-contentful-paint", buffered: true });
  })`);
  await page.close();
  return { ownBytes: bytes.own, totalBytes: bytes.own + bytes.prefetched, largestContentMs };
}
