import { ToggleButton } from "react-aria-components/ToggleButton";
import { ToggleButtonGroup } from "react-aria-components/ToggleButtonGroup";
import { text } from "../text/text.ts";
import { MoonIcon, SunIcon, SystemIcon } from "../ui/icons.tsx";
import { chooseTheme, type Theme, themes, useTheme } from "./theme.ts";

const icons = { system: SystemIcon, light: SunIcon, dark: MoonIcon };

export function ThemeSwitch() {
  const current = useTheme();
  return (
    <ToggleButtonGroup
      className="theme-switch"
      aria-label={text.theme.label}
      selectionMode="single"
      disallowEmptySelection
      selectedKeys={[current]}
      onSelectionChange={([theme]) => theme !== undefined && chooseTheme(theme as Theme)}
    >
      {themes.map((theme) => {
        const Icon = icons[theme];
        return (
          <ToggleButton key={theme} id={theme} aria-label={text.theme[theme]}>
            <Icon />
          </ToggleButton>
        );
      })}
    </ToggleButtonGroup>
  );
}
