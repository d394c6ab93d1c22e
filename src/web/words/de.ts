import type { ReaderWords } from './en.ts';

export const de: ReaderWords = {
  notices: {
    notFound:
      'Nicht gefunden\nDiese Seite gibt es in dieser Dokumentation nicht. Vielleicht wurde sie verschoben oder umbenannt.',
    nothingHere: 'Nicht gefunden\nUnter dieser Adresse gibt es keine Dokumentation.',
    off: 'Diese Dokumentation ist abgeschaltet\nWenden Sie sich an die Person, von der Sie die Adresse haben.',
    notReady:
      'Diese Dokumentation ist noch nicht bereit\nEs ist noch keine Version verfügbar. Versuchen Sie es in einigen Minuten noch einmal.',
    notLoaded:
      'Diese Dokumentation ist noch nicht bereit\nSie konnte noch nicht geladen werden. Der Betreiber sieht den Grund.',
    unavailable: 'Diese Seite kann im Moment nicht gezeigt werden\nVersuchen Sie es in Kürze noch einmal.',
    badAddress: 'Diese Adresse ist nicht lesbar\nSie enthält ein ungültiges Prozentzeichen. Prüfen Sie den Link.',
    longAddress: 'Diese Adresse ist zu lang\nPrüfen Sie den Link.',
    readOnly: 'Diese Seite kann nur gelesen werden\nSie nimmt keine Daten an.',
    signIn: 'Melden Sie sich an, um diese Dokumentation zu lesen\nLaden Sie die Seite neu, um sich anzumelden.',
    notSignedIn:
      'Sie sind nicht angemeldet\nÖffnen Sie diese Dokumentation unter der Adresse, die Ihre Organisation dafür angibt.',
    wrongPasswords:
      'Zu viele falsche Passwörter\nSie kamen aus Ihrem Netz. Warten Sie ein wenig, und versuchen Sie es noch einmal.',
    noSignIn: 'Die Anmeldung funktioniert im Moment nicht\nVersuchen Sie es in Kürze noch einmal.',
    signInUnfinished:
      'Sie sind noch nicht angemeldet\nDie Anmeldung hat zu lange gedauert oder wurde in einem anderen Browser begonnen. Öffnen Sie die Dokumentation erneut, um sich anzumelden.',
    notAllowed:
      'Sie haben keinen Zugriff auf diese Dokumentation\nSie sind angemeldet, aber Ihr Konto darf sie nicht lesen. Wenden Sie sich an die Person, von der Sie die Adresse haben.',
    stillSignedIn: 'Sie sind noch angemeldet\nÖffnen Sie diese Adresse erneut, um sich abzumelden.',
    signOut:
      'Abmelden?\nWenn Sie diese Dokumentation das nächste Mal öffnen, müssen Sie sich wieder anmelden.\nAbmelden',
  },
  shelf: {
    title: 'Dokumentation',
    findSite: 'Dokumentation finden',
    searchAll: 'Alle Dokumentationen durchsuchen',
    find: 'Finden',
    empty: 'Hier gibt es noch keine Dokumentation.',
    sites: 'Dokumentationen: {total}',
    matching: 'Dokumentationen: {count} von {total}',
    date: 'Datum',
    soon: 'Noch nicht verfügbar',
    signIn: 'Anmelden, um mehr zu sehen',
    inPages: 'Ergebnisse auf Seiten',
    found: 'Gefundene Seiten: {count}',
    noneFound: 'Keine Seite gefunden',
  },
  searchBox: {
    open: 'Suchen',
    label: 'Diese Dokumentation durchsuchen',
    close: 'Schließen',
    results: 'Ergebnisse',
    found: 'Ergebnisse: {count}',
    noneFound: 'Nichts gefunden zu „{query}“',
    didYouMean: 'Meinten Sie {query}?',
    excluded: 'Ausgeschlossen: {words}',
    inclusive: 'Stattdessen nach {query} suchen',
    hint: 'Prüfen Sie die Schreibweise, oder verwenden Sie weniger oder andere Wörter.',
    recent: 'Letzte Suchen',
    forget: 'Löschen',
    language: 'Sprache',
    version: 'Version',
    tag: 'Schlagwort',
    all: 'Alle',
    scope: 'Wo',
    thisSite: 'Diese Dokumentation',
    allSites: 'Alle Dokumentationen',
    choose: 'Auswählen',
    follow: 'Öffnen',
    newTab: 'In neuem Tab',
    signIn: 'Sie sind nicht mehr angemeldet. Laden Sie die Seite neu, um sich anzumelden.',
    busy: 'Im Moment wird zu viel gesucht, versuchen Sie es in Kürze noch einmal',
    notReady: 'Die Suche ist noch nicht bereit, versuchen Sie es in Kürze noch einmal',
    away: 'Die Suche hat nicht geantwortet, versuchen Sie es in Kürze noch einmal',
  },
  resultsPage: {
    home: 'Zurück zur Dokumentation',
    ask: 'Geben Sie einen Suchbegriff ein.',
    refused: 'Diese Suche ist nicht möglich. Versuchen Sie es mit weniger Wörtern noch einmal.',
    more: 'Mehr Ergebnisse',
  },
  versions: {
    version: 'Version {version}',
    list: 'Versionen',
    active: 'aktuell',
    notice: 'Dies ist die Version {version}, nicht die aktuelle.',
    lead: 'Zur aktuellen Version {version}',
    away: 'Die Liste der Versionen konnte nicht geladen werden, versuchen Sie es in Kürze noch einmal',
  },
};
