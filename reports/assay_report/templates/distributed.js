// SPDX-License-Identifier: Apache-2.0
//
// Ranks: a square of a grid opens the list of what failed in it. The lists are plain
// HTML, see distributed.html, and open without this, too.
//
//   listenToRanks(document.querySelector('.ranks'));

function listenToRanks(section) {
  section?.addEventListener('click', (event) => {
    const button = event.target.closest('[data-opens]');
    if (!button) return;
    const fault = document.getElementById(button.dataset.opens);
    for (const one of section.querySelectorAll('.fault.shown')) {
      one.classList.remove('shown');
    }
    fault.classList.add('shown');
    fault.open = true;
    fault.scrollIntoView({block: 'nearest'});
    fault.querySelector('summary').focus();
  });
}
