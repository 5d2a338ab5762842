(() => {
  // The contrast of WCAG 2 of each text that is seen, against what is behind it.
  const parts = (text) => {
    const found = text.match(/[\d.]+/g).map(Number);
    return found.length === 3 ? [...found, 1] : found;
  };
  const over = (top, below) => [0, 1, 2].map((i) => top[i] * top[3] + below[i] * (1 - top[3]));
  const behind = (element) => {
    const chain = [];
    for (let it = element; it; it = it.parentElement) chain.unshift(it);
    return chain.reduce(
      (below, it) => over(parts(getComputedStyle(it).backgroundColor), below), [255, 255, 255]);
  };
  const seen = (element) => {
    let share = 1;
    for (let it = element; it; it = it.parentElement) share *= getComputedStyle(it).opacity;
    return share;
  };
  const light = (rgb) => {
    const [r, g, b] = rgb.map((value) => {
      const it = value / 255;
      return it <= 0.03928 ? it / 12.92 : ((it + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const found = [];
  for (const element of document.body.querySelectorAll('*')) {
    const text = [...element.childNodes]
      .filter((it) => it.nodeType === Node.TEXT_NODE).map((it) => it.data.trim()).join(' ').trim();
    if (!text || element.disabled || !element.checkVisibility({ visibilityProperty: true })) continue;
    const below = behind(element);
    const colour = parts(getComputedStyle(element).color);
    const [a, b] = [light(over([...colour.slice(0, 3), colour[3] * seen(element)], below)), light(below)];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    found.push({ id: element.id, name: element.className, text, ratio });
  }
  return JSON.stringify(found);
})()
