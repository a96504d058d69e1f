/** The fonts of the labels. No font is wider than the font with which the boxes were sized, so that the labels fit. */
const fontFamily = "Arial, Helvetica, Liberation Sans, DejaVu Sans, sans-serif";

/**
 * Returns the Mermaid theme variables for a color mode of the site.
 * @param {{ page: string, text: string, line: string, box: string, edge: string, note: string }} colors
 */
function createThemeVariables({ page, text, line, box, edge, note }) {
  return {
    fontFamily,
    fontSize: "16px",
    background: page,
    textColor: text,
    lineColor: line,
    primaryColor: box,
    primaryTextColor: text,
    primaryBorderColor: edge,
    edgeLabelBackground: page,
    clusterBkg: page,
    clusterBorder: line,
    titleColor: text,
    actorBkg: box,
    actorBorder: edge,
    actorTextColor: text,
    actorLineColor: line,
    signalColor: line,
    signalTextColor: text,
    noteBkgColor: note,
    noteBorderColor: line,
    noteTextColor: text,
  };
}

/** The colors are those of `src/css/palette.css`. */
const themeColors = {
  light: { page: "#ffffff", text: "#0b1b30", line: "#55647c", box: "#e7f3ff", edge: "#0a5fc2", note: "#f4f8fc" },
  dark: { page: "#0c121b", text: "#f3f7fc", line: "#97a7bb", box: "#10294a", edge: "#62b4ff", note: "#141d29" },
};

/** The Mermaid configuration by color mode. Labels are SVG text, because many image viewers do not render HTML. */
export const mermaidConfigByColorMode = Object.fromEntries(
  Object.entries(themeColors).map(([mode, colors]) => [
    mode,
    {
      startOnLoad: false,
      theme: "base",
      themeCSS: ".edgeLabel rect { opacity: 1; }",
      themeVariables: createThemeVariables(colors),
      fontFamily,
      htmlLabels: false,
      flowchart: {
        useMaxWidth: false,
        htmlLabels: false,
        nodeSpacing: 28,
        rankSpacing: 40,
        diagramPadding: 4,
        wrappingWidth: 130,
      },
      sequence: { useMaxWidth: false, mirrorActors: false, actorMargin: 90, diagramMarginX: 4, diagramMarginY: 4 },
    },
  ]),
);
