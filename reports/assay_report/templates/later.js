// SPDX-License-Identifier: Apache-2.0
//
// Parts of the page that are drawn when they are about to be seen, since most
// readers never look, and before the page is printed.
//
//   watchLater();   // a part is <div data-later><template>...</template></div>
//   whenSeen(element, () => draw());
//   drawLater();    // all parts, at once

const SEEN_WITHIN = '400px';

// Calls `draw` once, when the element is about to be seen or drawSeen is called.
const unseen = new Map();

const seenWatch = new IntersectionObserver((entries) => {
  for (const {isIntersecting, target} of entries) {
    if (isIntersecting) drawSeen(target);
  }
}, {rootMargin: SEEN_WITHIN});

function whenSeen(target, draw) {
  unseen.set(target, draw);
  seenWatch.observe(target);
}

function drawSeen(target) {
  const draw = unseen.get(target);
  seenWatch.unobserve(target);
  unseen.delete(target);
  draw?.();
}

function watchLater(root = document) {
  for (const part of root.querySelectorAll('[data-later]')) {
    whenSeen(part, () => {
      part.replaceChildren(part.querySelector('template').content);
      for (const one of part.querySelectorAll('.copy')) one.hidden = false;
      watchLater(part);
    });
  }
}

function drawLater() {
  while (unseen.size) {
    for (const target of [...unseen.keys()]) drawSeen(target);
  }
}
