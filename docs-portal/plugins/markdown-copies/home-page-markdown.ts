import { homePageIntroduction } from "../../src/home/introduction.ts";
import { integratorJobs } from "../../src/home/jobs.ts";

interface HomePageTexts {
  title: string;
  tagline: string;
  /** Returns the absolute URL of a path. */
  absolute: (path: string) => string;
}

/** Returns the Markdown copy of the home page, with links to the first steps, the guides and the reference. */
export function renderHomePageMarkdown({ title, tagline, absolute }: HomePageTexts): string {
  const guides = integratorJobs.map((guide) => `- [${guide.title}](${absolute(guide.to)}): ${guide.text}`);
  return `${[
    `# ${title}`,
    tagline,
    homePageIntroduction.purpose,
    homePageIntroduction.audience,
    [
      `- [Get started](${absolute("/docs/getting-started")})`,
      `- [Create a sandbox](${absolute("/docs/sandboxes")})`,
      `- [The console](${absolute("/docs/console")}), which shows the data of a location in a browser`,
      `- [API reference](${absolute("/api/")})`,
      `- [TypeScript client](${absolute("/docs/client")})`,
      `- [Collections for Postman and Bruno](${absolute("/docs/collections")})`,
    ].join("\n"),
    `The home page shows a week of the demo restaurant as charts and tables. [Ask your data](${absolute("/docs/ask-your-data")}) has the requests behind such figures.`,
    "## Guides",
    guides.join("\n"),
  ].join("\n\n")}\n`;
}
