import type { ReaderWords } from './en.ts';

export const fr: ReaderWords = {
  notices: {
    notFound: {
      title: 'Introuvable',
      text: 'Cette page n’existe pas dans cette documentation. Elle a peut-être été déplacée ou renommée.',
    },
    nothingHere: { title: 'Introuvable', text: 'Il n’y a pas de documentation à cette adresse.' },
    off: {
      title: 'Cette documentation est désactivée',
      text: 'Adressez-vous à la personne qui vous a donné son adresse.',
    },
    notReady: {
      title: 'Cette documentation n’est pas encore prête',
      text: 'Aucune version n’est encore arrivée. Réessayez dans quelques minutes.',
    },
    notLoaded: {
      title: 'Cette documentation n’est pas encore prête',
      text: 'Elle n’a pas pu être chargée jusqu’ici. La personne qui s’en occupe peut en voir la raison.',
    },
    unavailable: { title: 'Cette page ne peut pas être affichée pour le moment', text: 'Réessayez dans un instant.' },
    badAddress: {
      title: 'Cette adresse est illisible',
      text: 'Elle contient un signe pour cent qui ne représente aucun caractère. Vérifiez l’écriture du lien.',
    },
    longAddress: { title: 'Cette adresse est trop longue', text: 'Vérifiez l’écriture du lien.' },
    readOnly: { title: 'Cette page peut seulement être lue', text: 'Rien ne peut être envoyé à son adresse.' },
    signIn: {
      title: 'Connectez-vous pour lire cette documentation',
      text: 'Rechargez la page pour vous connecter.',
    },
    notSignedIn: {
      title: 'Vous n’êtes pas connecté',
      text: 'Ouvrez cette documentation à l’adresse indiquée par votre organisation.',
    },
    wrongPasswords: {
      title: 'Trop de mots de passe erronés',
      text: 'Ils proviennent de votre réseau. Attendez un peu, puis réessayez.',
    },
    noSignIn: { title: 'La connexion ne fonctionne pas pour le moment', text: 'Réessayez dans un instant.' },
    signInUnfinished: {
      title: 'Vous n’êtes pas encore connecté',
      text: 'Cela a pris trop de temps, ou a été commencé dans un autre navigateur. Ouvrez à nouveau la documentation pour vous connecter.',
    },
    notAllowed: {
      title: 'Cette documentation ne vous est pas ouverte',
      text: 'Vous êtes connecté, mais votre compte n’a pas le droit de la lire. Adressez-vous à la personne qui vous a donné son adresse.',
    },
    stillSignedIn: {
      title: 'Vous êtes toujours connecté',
      text: 'Ouvrez à nouveau cette adresse pour vous déconnecter.',
    },
    signOut: {
      title: 'Se déconnecter ?',
      text: 'Vous devrez vous connecter à nouveau la prochaine fois que vous ouvrirez cette documentation.',
      button: 'Se déconnecter',
    },
  },
  shelf: {
    title: 'Documentation',
    findSite: 'Trouver une documentation',
    searchAll: 'Rechercher dans toute la documentation',
    find: 'Trouver',
    empty: 'Il n’y a pas encore de documentation ici.',
    sites: 'Documentations : {total}',
    matching: 'Documentations : {count} sur {total}',
    version: 'Version',
    language: 'Langue',
    date: 'Date',
    soon: 'Pas encore disponible',
    signIn: 'Se connecter pour en voir plus',
    inPages: 'Dans leurs pages',
    found: 'Pages trouvées : {count}',
    noneFound: 'Aucune page trouvée',
    searchBusy: 'Trop de recherches pour le moment, réessayez dans un instant',
    searchNotReady: 'La recherche n’est pas encore prête, réessayez dans un instant',
    searchAway: 'La recherche n’a pas répondu',
  },
};
