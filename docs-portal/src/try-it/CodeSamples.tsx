import CodeBlock from "@theme/CodeBlock";
import TabItem from "@theme/TabItem";
import Tabs from "@theme/Tabs";
import type { ReactNode } from "react";
import { useSandbox } from "../sandbox/use-sandbox.ts";
import type { CodeSampleInput } from "./samples/sample.ts";
import { codeSampleLanguages } from "./samples/samples.ts";

/** What stands in samples for the reader's API key. */
export const placeholderKey = "<your key>";

interface Props extends CodeSampleInput {
  /** Whether only the selected sample is in the page. */
  isLazy?: boolean;
}

/** Renders a tab with a code sample for each language. Selecting a language selects it in all samples of the site. */
export function CodeSamples({ isLazy = false, ...sample }: Props): ReactNode {
  const [sandbox] = useSandbox();
  // Other keys are not shown, because samples are copied to places that many people read.
  const withKey = (code: string) => (sandbox ? code.replaceAll(placeholderKey, sandbox.apiKey) : code);
  return (
    <Tabs groupId="language" lazy={isLazy}>
      {codeSampleLanguages.map(({ id, label, highlight, write }) => (
        <TabItem key={id} value={id} label={label}>
          <CodeBlock language={highlight}>{withKey(write(sample))}</CodeBlock>
        </TabItem>
      ))}
    </Tabs>
  );
}
