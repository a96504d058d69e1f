import CodeBlock from "@theme/CodeBlock";
import TabItem from "@theme/TabItem";
import Tabs from "@theme/Tabs";
import type { ReactNode } from "react";
import type { CodeSampleInput } from "./samples/sample.ts";
import { codeSampleLanguages } from "./samples/samples.ts";

interface Props extends CodeSampleInput {
  /** Whether only the selected sample is in the page. */
  isLazy?: boolean;
}

/** Renders a tab with a code sample for each language. Selecting a language selects it in all samples of the site. */
export function CodeSamples({ isLazy = false, ...sample }: Props): ReactNode {
  return (
    <Tabs groupId="language" lazy={isLazy}>
      {codeSampleLanguages.map(({ id, label, highlight, write }) => (
        <TabItem key={id} value={id} label={label}>
          <CodeBlock language={highlight}>{write(sample)}</CodeBlock>
        </TabItem>
      ))}
    </Tabs>
  );
}
