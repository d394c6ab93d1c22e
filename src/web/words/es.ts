import type { ReaderWords } from './en.ts';

export const es: ReaderWords = {
  notices: {
    notFound: {
      title: 'No encontrado',
      text: 'Esta página no existe en esta documentación. Puede que se haya movido o cambiado de nombre.',
    },
    nothingHere: { title: 'No encontrado', text: 'No hay documentación en esta dirección.' },
    off: { title: 'Esta documentación está desactivada', text: 'Pregunte a quien le dio su dirección.' },
    notReady: {
      title: 'Esta documentación aún no está lista',
      text: 'Aún no ha llegado ninguna versión. Vuelva a intentarlo dentro de unos minutos.',
    },
    notLoaded: {
      title: 'Esta documentación aún no está lista',
      text: 'Hasta ahora no se ha podido cargar. Quien la mantiene puede ver el motivo.',
    },
    unavailable: {
      title: 'Esta página no se puede mostrar en este momento',
      text: 'Vuelva a intentarlo dentro de poco.',
    },
    badAddress: {
      title: 'Esta dirección no se puede leer',
      text: 'Contiene un signo de porcentaje que no representa ningún carácter. Compruebe cómo está escrito el enlace.',
    },
    longAddress: { title: 'Esta dirección es demasiado larga', text: 'Compruebe cómo está escrito el enlace.' },
    readOnly: { title: 'Esta página solo se puede leer', text: 'No se puede enviar nada a su dirección.' },
    signIn: {
      title: 'Inicie sesión para leer esta documentación',
      text: 'Vuelva a cargar la página para iniciar sesión.',
    },
    notSignedIn: {
      title: 'No ha iniciado sesión',
      text: 'Abra esta documentación en la dirección que indica su organización.',
    },
    wrongPasswords: {
      title: 'Demasiadas contraseñas incorrectas',
      text: 'Proceden de su red. Espere un poco y vuelva a intentarlo.',
    },
    noSignIn: {
      title: 'El inicio de sesión no funciona en este momento',
      text: 'Vuelva a intentarlo dentro de poco.',
    },
    signInUnfinished: {
      title: 'Aún no ha iniciado sesión',
      text: 'Ha tardado demasiado o se empezó en otro navegador. Abra de nuevo la documentación para iniciar sesión.',
    },
    notAllowed: {
      title: 'No tiene acceso a esta documentación',
      text: 'Ha iniciado sesión, pero su cuenta no puede leerla. Pregunte a quien le dio su dirección.',
    },
    stillSignedIn: {
      title: 'Su sesión sigue abierta',
      text: 'Abra de nuevo esta dirección para cerrar la sesión.',
    },
    signOut: {
      title: '¿Cerrar sesión?',
      text: 'Tendrá que volver a iniciar sesión la próxima vez que abra esta documentación.',
      button: 'Cerrar sesión',
    },
  },
  shelf: {
    title: 'Documentación',
    findSite: 'Encontrar una documentación',
    searchAll: 'Buscar en toda la documentación',
    find: 'Encontrar',
    empty: 'Aquí aún no hay documentación.',
    sites: 'Documentaciones: {total}',
    matching: 'Documentaciones: {count} de {total}',
    version: 'Versión',
    language: 'Idioma',
    date: 'Fecha',
    soon: 'Aún no disponible',
    signIn: 'Iniciar sesión para ver más',
    inPages: 'En sus páginas',
    found: 'Páginas encontradas: {count}',
    noneFound: 'No se encontró ninguna página',
    searchBusy: 'Demasiadas búsquedas en este momento, vuelva a intentarlo dentro de poco',
    searchNotReady: 'La búsqueda aún no está lista, vuelva a intentarlo dentro de poco',
    searchAway: 'La búsqueda no respondió',
  },
};
