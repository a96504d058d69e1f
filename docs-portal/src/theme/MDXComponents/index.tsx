import TabItem from "@theme/TabItem";
import Tabs from "@theme/Tabs";
import MDXComponents from "@theme-original/MDXComponents";
import { ConsoleLink } from "../../console/ConsoleLink.tsx";
import { Diagram } from "../../diagrams/Diagram.tsx";
import { RequestCodeSamples } from "../../examples/RequestCodeSamples.tsx";
import { ResponseCodeBlock } from "../../examples/ResponseCodeBlock.tsx";
import { WebhookMessageCodeBlock } from "../../examples/WebhookMessageCodeBlock.tsx";
import { MoneyAmountView } from "../../money/MoneyAmountView.tsx";
import { CreateSandbox } from "../../sandbox/CreateSandbox.tsx";

/** The components that MDX pages can use without an import. */
export default {
  ...MDXComponents,
  ConsoleLink,
  CreateSandbox,
  Diagram,
  MoneyAmountView,
  RequestCodeSamples,
  ResponseCodeBlock,
  TabItem,
  Tabs,
  WebhookMessageCodeBlock,
};
