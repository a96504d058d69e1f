import { setTimeout as sleep } from "node:timers/promises";
import { type ClientOptions, createAdminClient, createClient } from "@pragma/client/create-client";

import { daysUntilYesterday, demoRestaurant } from "./demo-days.ts";
import { openDemoLocation } from "./demo-location.ts";
import { demoStory } from "./demo-story.ts";
import { awaitReports, pushMissingTills } from "./demo-tills.ts";
import { pushMissingCatalog } from "./push-catalog.ts";
import { generateRestaurant } from "./restaurant.ts";

interface DemoOptions extends Pick<ClientOptions, "fetch" | "wait"> {
  /** Where the API answers, such as http://localhost:4000. */
  url: string;
  /** The same for whoever reads the story. */
  publicUrl?: string;
  /** A key with every scope. */
  adminKey: string;
  /** Where the location's id and key are remembered. */
  file: string;
  now: Date;
  /** Told what goes on, and how far it is. */
  show: (text: string) => void;
}

/**
 * Makes the demo location where the installation has none, gives it a catalogue and the tills of the thirty days
 * until yesterday, and waits for their reports. What is there already stays. The reply tells how to read it.
 */
export async function seedDemo({
  url,
  publicUrl = url,
  adminKey,
  file,
  now,
  show,
  wait = sleep,
  ...sending
}: DemoOptions) {
  const options = { ...sending, baseUrl: url, wait };
  const withKey = (apiKey: string) => createClient({ ...options, apiKey });
  const admin = createAdminClient({ ...options, apiKey: adminKey });
  const access = await openDemoLocation({ admin, withKey, file });
  const location = withKey(access.apiKey);
  show("Sending the catalogue");
  await pushMissingCatalog(location, generateRestaurant(demoRestaurant));
  const days = daysUntilYesterday(access.locationId, now);
  await pushMissingTills(location, access.locationId, days, (done) => show(`Pushing tills: ${done} of ${days.length}`));
  const newest = await awaitReports(location, days, {
    progress: (ready) => show(`Computing reports: ${ready} of ${days.length}`),
    wait,
  });
  return demoStory(publicUrl, access, newest);
}
